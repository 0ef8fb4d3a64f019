/**
 * `requests.place` is the order of creation. The columns beside `body` repeat parts of it: what is compared, searched
 * or ordered by. What is read back is checked against them, so that a row edited by hand is noticed.
 */
export const MIGRATION_0001 = `
CREATE TABLE requests (
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  rev INTEGER NOT NULL,
  head TEXT NOT NULL,
  status TEXT NOT NULL,
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  thread TEXT,
  root TEXT NOT NULL,
  lane TEXT,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX requests_open ON requests (place) WHERE status IN ('pending', 'approved', 'claimed');
CREATE INDEX requests_edited ON requests (root) WHERE root <> id;
CREATE INDEX requests_lanes ON requests (lane, place) WHERE status = 'approved' AND lane IS NOT NULL;

CREATE TABLE rows (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  rev INTEGER NOT NULL,
  due TEXT,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT;
CREATE INDEX rows_due ON rows (due) WHERE due IS NOT NULL;

CREATE TABLE entries (
  stream TEXT NOT NULL,
  n INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (stream, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE commits (
  seq INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  ids TEXT NOT NULL
) STRICT;

CREATE TABLE leases (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('fence', 0);
`;
