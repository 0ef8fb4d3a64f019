/*
 * One approval request as a machine: three identities (0 is the requester), up to two executors, an outage of the store,
 * crashes, cancels, edits, deadlines. Every guard is a macro, so that a build with -DM_<NAME> takes that one guard out.
 * The machine as it stands must have no error, and each build without one guard must have one: scripts/check-model.sh.
 *
 * -DK=1 or 2          how many approvals the clause wants (default 2)
 * -DEXECUTORS=1 or 2  how many processes try to claim (default 2)
 * -DNO_EDITS          nobody edits
 * -DSMALL             one approver, one executor, no attack: for the liveness check, with -DCHECK_LIVE
 */
#ifndef K
#define K 2
#endif
#ifndef EXECUTORS
#define EXECUTORS 2
#endif
#define DECIDE_BY 2
#define RUN_BY 3
#define TMAX 4

#ifdef M_SELF
#define G_SOD 1
#else
#define G_SOD (id != 0)                  /* P-09: who asks does not answer */
#endif
#ifdef M_LATE_VOTE
#define G_VTIME 1
#else
#define G_VTIME (now < DECIDE_BY)        /* P-04: an answer after the deadline changes nothing */
#endif
#ifdef M_STALE
#define G_SHOWN 1
#else
#define G_SHOWN (seen == gen)            /* P-02: a vote names the digest that is pending */
#endif
#ifdef M_DUPE
#define G_ONCE 1
#else
#define G_ONCE (!yes[id])                /* P-01: one vote a person */
#endif
#ifdef M_VOTE_DOWN
#define G_VUP 1
#else
#define G_VUP (up)                       /* P-10: store and journal answered */
#endif
#ifdef M_RETRY_LOST
#define G_STATE (st == APPROVED || st == INDETERMINATE)
#else
#ifdef M_OPEN_ON_ERROR
#define G_STATE (st == APPROVED || !up)
#else
#define G_STATE (st == APPROVED)         /* P-03: what was lost is never run again by itself */
#endif
#endif
#ifdef M_OPEN_ON_ERROR
#define G_CUP 1
#else
#define G_CUP (up)                       /* P-15: a fault refuses */
#endif
#ifdef M_LATE_CLAIM
#define G_CTIME 1
#else
#define G_CTIME (now < RUN_BY)           /* P-04: an approval ends too */
#endif
#ifdef M_NO_DIGEST
#define G_BYTES 1
#else
#define G_BYTES (!buf[i] && has[i] == gen) /* P-02: the digest of what is about to run is the digest approved */
#endif
#ifdef M_UNLOGGED
#define LOGGED 0
#else
#define LOGGED 1                         /* P-10: the claim is journaled in its own commit */
#endif
#ifdef M_NO_FREEZE
#define RUNS buf[i]
#else
#define RUNS frozen[i]                   /* P-02: a private copy runs */
#endif

mtype = { PENDING, APPROVED, CLAIMED, SUCCEEDED, FAILED, INDETERMINATE, REJECTED, EXPIRED, CANCELLED };
#define TERMINAL (st != PENDING && st != APPROVED && st != CLAIMED)
#define COUNTS(x) (yes[x] && votegen[x] == gen)

mtype st = PENDING;
byte now, nyes, effects;
byte owner = 9;
byte gen;             /* 0: the request as asked; 1: the successor that an edit opened */
byte votegen[3];      /* which of the two an identity's vote is for */
byte has[2];          /* which of the two an executor holds the arguments of */
bool yes[3];
bool denied, voted, claim_logged;
bool up = 1;
bool buf[2];          /* what executor i is about to run: 0 the bytes shown, 1 others (an attacker may flip it) */
bool frozen[2];       /* its private copy, taken at claim */
bool dead[2];

inline set(s) {
  assert(!TERMINAL);                                                     /* a terminal status is final */
  assert(voted || s == EXPIRED || s == REJECTED || s == CANCELLED);      /* P-04: silence never approves */
  st = s
}

inline approve(seen) {
  atomic {
    if
    :: (st == PENDING && G_VUP && G_VTIME && G_SOD && G_SHOWN && G_ONCE) ->
       assert(id != 0);                                                  /* P-09 */
       assert(now < DECIDE_BY);                                          /* P-04 */
       assert(seen == gen);                                              /* P-02: approved what is pending */
       assert(up);                                                       /* P-15 */
       assert(!yes[id]);                                                 /* distinct approvers */
       yes[id] = 1; votegen[id] = gen; voted = 1; nyes++;
       if :: nyes >= K -> set(APPROVED) :: else -> skip fi
    :: else -> skip
    fi
  }
}

inline edit() {       /* one edit: the request ends superseded, its votes are void, the editor's yes is the successor's first */
  atomic {
    if
    :: (st == PENDING && gen == 0 && G_VUP && G_VTIME && G_SOD) ->
       assert(id != 0);
       gen = 1;
#ifndef M_CARRY
       yes[0] = 0; yes[1] = 0; yes[2] = 0; nyes = 0;                     /* P-02: a vote for other arguments is no vote */
#endif
       if :: !yes[id] -> nyes++ :: else -> skip fi;
       yes[id] = 1; votegen[id] = 1; voted = 1;
       if :: nyes >= K -> set(APPROVED) :: else -> skip fi
    :: else -> skip
    fi
  }
}

inline reject() {
  atomic {
    if
    :: (up && st == PENDING) -> denied = 1; set(REJECTED)
    :: (up && st == APPROVED) -> denied = 1;
#ifndef M_DENY_IGNORED
       set(CANCELLED);                                                   /* a no stands until the claim */
#endif
       skip
    :: else -> skip
    fi
  }
}

#define VOTES(x) (x == 1 -> 2 : 1)
proctype Approver(byte id) {
  byte n = 0;
  byte saw = 0;
  do
  :: n < VOTES(id) ->
     n++;
     saw = gen;                                     /* reads the card; whatever happens next happens in between */
     if
     :: true -> approve(saw)
#ifdef NO_EDITS
     :: true -> approve(1 - saw)                    /* a card of something else */
#else
     :: true -> edit()
#endif
     :: id != 0 -> reject()
     fi
  :: break
  od
}

proctype Executor(byte i) {
  bool won = 0;
  has[i] = gen;
  if :: has[i] = gen :: skip fi;                    /* learns of the edit, or not; its one attempt may come at any moment */
#ifdef M_NO_CAS
  if
  :: (st == APPROVED && up && now < RUN_BY && G_BYTES) ->                              /* read ... */
     atomic { frozen[i] = buf[i]; won = 1; owner = i; claim_logged = 1; st = CLAIMED } /* ... then write */
  :: else -> skip
  fi
#else
  atomic {
    if
    :: (G_STATE && G_CUP && G_CTIME && G_BYTES) ->
       assert(now < RUN_BY);                                             /* P-04 */
       assert(!denied);                                                  /* a no stands */
       assert(up);                                                       /* P-15 */
       assert(COUNTS(0) + COUNTS(1) + COUNTS(2) >= K);                   /* P-01: the quorum, for these arguments */
       set(CLAIMED); owner = i; frozen[i] = buf[i]; won = 1; claim_logged = LOGGED
    :: else -> skip
    fi
  }
#endif
  if
  :: won ->
     if :: dead[i] = 1; goto done :: skip fi;                            /* crash before the effect */
     atomic {
       effects++;
       assert(effects <= 1);                                             /* P-03: at most once */
       assert(!RUNS);                                                    /* P-02: what was approved is what ran */
       assert(has[i] == gen);                                            /* P-02: the edited arguments, not the first */
       assert(claim_logged)                                              /* P-10: recorded before it takes effect */
     };
     if :: dead[i] = 1; goto done :: skip fi;                            /* crash after the effect */
     atomic {
       if
       :: (st == CLAIMED && owner == i) -> if :: true -> set(SUCCEEDED) :: true -> set(FAILED) fi
       :: else -> skip
       fi
     }
  :: else -> skip
  fi;
done: skip
}

proctype Sweeper() {    /* promptness only: deadlines are checked inside approve and claim too */
  do
  :: atomic { (up && st == PENDING && now >= DECIDE_BY) ->
#ifdef M_TIMEOUT_APPROVES
       set(APPROVED) }
#else
       set(EXPIRED) }
#endif
  :: atomic { (up && st == APPROVED && now >= RUN_BY) -> set(EXPIRED) }
  :: atomic { (up && st == CLAIMED && owner < 2 && (dead[owner] || now == TMAX)) -> set(INDETERMINATE) } /* dead, or only slow */
  :: TERMINAL -> break
  od
}
proctype Clock()     { do :: now < TMAX -> now++ :: else -> break od }
proctype Mutator()   { if :: buf[0] = 1 :: buf[1] = 1 :: skip fi }
proctype Canceller() {
  if :: atomic { (up && (st == PENDING || st == APPROVED)) -> denied = 1; set(CANCELLED) } :: true -> skip fi
}
proctype Outage()    { if :: up = 0; up = 1 :: skip fi }

#ifdef SMALL
init {
  atomic {
    run Approver(1); run Executor(0);
#ifndef L_NO_SWEEP
    run Sweeper();                                  /* without it a request can stay open for ever: the liveness check must say so */
#endif
    run Clock(); run Outage()
  }
}
#else
init {
  atomic {
    run Approver(0); run Approver(1); run Approver(2);
    run Executor(0);
#if EXECUTORS > 1
    run Executor(1);
#endif
    run Sweeper(); run Clock(); run Mutator(); run Canceller(); run Outage()
  }
}
#endif

#ifdef CHECK_LIVE
ltl live { <> TERMINAL }
#endif
