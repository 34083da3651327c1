import {
  LIVE_EVALS_MAX,
  type SeedDocument,
  type SeedOutcome,
} from '../../../src/contract/index.ts';
import { DAY_MS, isoTime, HOUR_MS, MINUTE_MS } from '../../../src/platform/clock.ts';
import type { OwnerName, ServiceContext } from './context.ts';
import { PASSING_PHRASE } from './spans.ts';

type Eval = NonNullable<SeedDocument['evals']>[number];

/** A word in names whose case only a comparison of all letters ignores, not only of ASCII letters. */
const CITY = 'Zürich';

/** No eval's name contains it, so that a filter by name does not find it. */
const EVAL_CATEGORY = 'delivery';

/** Returns a part of the names of both of these evals. */
export const sharedEvalPart = ({ marker }: ServiceContext): string => `${CITY} ${marker}`;

/** Returns the two evals that score the run: every conversation passes the first. */
export function seedEvals({ marker }: ServiceContext): [first: Eval, second: Eval] {
  return [
    {
      id: 'parcel',
      name: `Check Parcel ${CITY} ${marker}`,
      category: EVAL_CATEGORY,
      kind: 'contains',
      params: { text: 'parcel', in: 'any' },
    },
    {
      id: 'promise',
      name: `Check Promise ${CITY} ${marker}`,
      category: EVAL_CATEGORY,
      kind: 'contains',
      params: { text: PASSING_PHRASE, in: 'agent' },
    },
  ];
}

/** Returns a seed document that scores live traces with the evals of the run. */
export function seedLiveEvals(service: ServiceContext): SeedDocument {
  const evals = seedEvals(service);
  return { evals, settings: { evals: evals.map(({ id }) => id) } };
}

/** Returns the name of the agent whose simulation is not deleted. */
export const seededAgentName = ({ marker }: ServiceContext): string =>
  `Check Agent ${CITY} ${marker}`;

/** Returns part of the URL of that agent, with letters in the opposite case. */
export const seededAgentUrlPart = ({ marker }: ServiceContext): string => `FIRST-${marker}.example`;

/** Returns the session id of the transcript that the run uploads. */
export const uploadSessionId = ({ marker }: ServiceContext): string => `sk-${marker}-upload`;

/** Returns the run name of the transcript that the run uploads. */
export const uploadRunName = ({ marker }: ServiceContext): string =>
  `Check upload ${CITY} ${marker}`;

/**
 * Returns when a seeded session in the middle of the others starts: after noon of the previous day, so
 * that an earlier session of the same day exists. Only the fraction shows that it is not at noon.
 */
export const middleSessionMs = ({ baseMs }: ServiceContext): number =>
  Math.floor(baseMs / DAY_MS) * DAY_MS - DAY_MS / 2 + 125;

/** Returns the seed document of an owner, without its key. */
export function seedOwner(service: ServiceContext, owner: OwnerName): SeedDocument {
  const live = seedLiveEvals(service);
  switch (owner) {
    case 'main':
      return { ...live, ...seedSimulations(service) };
    case 'deleted':
    case 'idle':
      return live;
    case 'apart':
      return seedMostEvals(service);
    case 'named':
      return seedMostEvals(service, `Check ${service.marker}`);
    case 'bare':
      return { evals: [unusedEval(service)] };
    case 'paged':
    case 'limits':
    case 'rate':
    case 'backlog':
      return {};
  }
}

/** Returns an eval that passes every conversation, but that no settings choose. */
function unusedEval(service: ServiceContext): Eval {
  const [first] = seedEvals(service);
  return { ...first, id: 'unused', name: `Check Unused ${service.marker}` };
}

/** Returns a seed document with as many live evals as a service allows, and a run name if one is given. */
function seedMostEvals(service: ServiceContext, runName?: string): SeedDocument {
  const [first, second] = seedEvals(service);
  const others = Array.from({ length: LIVE_EVALS_MAX - 2 }, (_, index) => {
    const id = `parcel-${index + 3}`;
    return { ...first, id, name: `Check ${id} ${service.marker}` };
  });
  const evals = [first, second, ...others];
  return {
    evals,
    settings: {
      evals: evals.map(({ id }) => id),
      ...(runName !== undefined && { run_name: runName }),
    },
  };
}

function seedSimulations(service: ServiceContext): SeedDocument {
  const { marker, baseMs } = service;
  const [first, second] = seedEvals(service);
  const names = [first.name, second.name, `Check Tone ${marker}`];
  const outcomes = (...results: SeedOutcome['outcome'][]): SeedOutcome[] =>
    results.map((outcome, index) => ({
      eval_name: names[index] ?? '',
      outcome,
      reasoning: 'Made up.',
    }));
  const hoursAgo = (hours: number): number => baseMs - hours * HOUR_MS;
  const middleMs = middleSessionMs(service);
  return {
    agents: [
      { name: seededAgentName(service), url: `https://first-${marker}.example/chat` },
      { name: `Check Other ${marker}`, url: `https://second-${marker}.example/chat` },
    ],
    simulations: [
      {
        // The name contains the scenario, so that a filter by it finds simulations by name, too.
        name: `Check ${SCENARIO} ${marker}`,
        agent: seededAgentName(service),
        sessions: [
          // Fails, but the second eval did not score it.
          seedSession('early', hoursAgo(60), outcomes('fail')),
          // Its pass rate is not a whole number of tenths.
          seedSession('patient', hoursAgo(49), outcomes('pass', 'fail', 'fail')),
          // Still running when the next session starts, so start and end times can be confused.
          seedSession('lasting', middleMs - 5 * MINUTE_MS, outcomes('pass', 'fail'), 10),
          seedSession('calm', middleMs, outcomes('pass', 'pass')),
          seedSession('brief', hoursAgo(4), outcomes('fail', 'fail')),
        ],
      },
      {
        name: `Check deleted ${marker}`,
        agent: `Check Other ${marker}`,
        deleted: true,
        sessions: [seedSession('absent', hoursAgo(2), outcomes('pass'))],
      },
    ],
  };
}

type SeedSession = NonNullable<
  NonNullable<SeedDocument['simulations']>[number]['sessions']
>[number];

const SCENARIO = 'late-parcel';
const TURNS_PER_SESSION = 3;

function seedSession(
  persona: string,
  startMs: number,
  outcomes: SeedOutcome[],
  durationMinutes = 1,
): SeedSession {
  const createTurn = (_: unknown, index: number) => ({
    user_input: `Where is my parcel? This is question ${index + 1} of the ${persona} user.`,
    // The user has no reason for the first question.
    user_reason: index === 0 ? '' : 'It is late.',
    agent_response: `There, as I told the ${persona} user ${index} times.`,
  });
  return {
    scenario: SCENARIO,
    persona,
    started_at: isoTime(startMs),
    ended_at: isoTime(startMs + durationMinutes * MINUTE_MS),
    turns: Array.from({ length: TURNS_PER_SESSION }, createTurn),
    outcomes,
  };
}

/** More sessions than the largest page holds. */
const MANY_SESSIONS = 505;

/** Ten of the sessions start in each second. */
const MANY_APART_MS = 100;

/**
 * Returns a seed document with more sessions than the largest page holds. The newest ones are last in the
 * document, and start and end last. The scenario or the id of a session is its start.
 */
export function seedManySessions({ baseMs }: ServiceContext): SeedDocument {
  const times = Array.from({ length: MANY_SESSIONS }, (_, index) => {
    const startMs = baseMs - (MANY_SESSIONS - index) * MANY_APART_MS;
    return { started_at: isoTime(startMs), ended_at: isoTime(startMs + MINUTE_MS) };
  });
  const outcomes: SeedOutcome[] = [{ eval_name: 'Any', outcome: 'pass' }];
  return {
    simulations: [
      {
        name: 'Many',
        agent: 'Any',
        sessions: times.map((time) => ({ scenario: time.started_at, persona: 'p', ...time })),
      },
    ],
    runs: [
      {
        name: 'Many',
        sessions: times.map((time) => ({
          source_session_id: time.started_at,
          outcomes,
          ...time,
        })),
      },
    ],
  };
}

/** Returns the transcript that the run uploads for the main owner. It fails, and the first eval does not score it. */
export const uploadedTranscript = (service: ServiceContext) => ({
  session_id: uploadSessionId(service),
  started_at: isoTime(service.baseMs - 6 * HOUR_MS),
  turns: [{ user_input: 'Where is my parcel?', agent_response: 'Here.' }],
  run: uploadRunName(service),
  evals: ['promise'],
});
