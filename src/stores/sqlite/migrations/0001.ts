/**
 * A step of a request is a write that its caller waits for, so it touches few pages. `requests` has what never changes
 * once it was asked, with the payload that can be erased from it; `states` has the little that does change, and is
 * where a request is found by its id. `place` is the order of creation. The columns repeat what is compared, searched
 * or ordered by; what is read back is checked against them, so that a row edited by hand is noticed. `states.open` is 1
 * until the request ends and is not touched before: the index of open requests costs nothing while they change, and
 * stays small beside any number of ended ones. `commits` is the log: what changed, with its journal entries, in the
 * order of the commits; `states.log` and `node_entries` name the commits that hold a stream's entries. Its `key` goes
 * after a day, its row never.
 */
export const MIGRATION_0001 = `
CREATE TABLE requests (
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  thread TEXT,
  root TEXT NOT NULL,
  frozen TEXT NOT NULL,
  payload_rev INTEGER,
  payload TEXT
) STRICT;
CREATE INDEX requests_edited ON requests (root) WHERE root <> id;

CREATE TABLE states (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  head TEXT NOT NULL,
  entries INTEGER NOT NULL,
  log TEXT NOT NULL,
  status TEXT NOT NULL,
  open INTEGER,
  lane TEXT,
  changing TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX states_open ON states (place) WHERE open = 1;
CREATE INDEX states_lanes ON states (lane, place) WHERE open = 1 AND lane IS NOT NULL;

CREATE TABLE rows (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  rev INTEGER NOT NULL,
  due TEXT,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT;
CREATE INDEX rows_due ON rows (due) WHERE due IS NOT NULL;

CREATE TABLE commits (
  seq INTEGER PRIMARY KEY,
  key TEXT,
  at INTEGER NOT NULL,
  ids TEXT NOT NULL,
  entries TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX commits_keys ON commits (key) WHERE key IS NOT NULL;
CREATE TABLE node_entries (stream TEXT NOT NULL, n INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (stream, n)) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('fence', 0), ('forgotten', 0);
`;
