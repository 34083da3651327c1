import type { SeedDocument, SeedOutcome } from '../../../src/contract/index.ts';
import { DAY_MS, isoTime, HOUR_MS } from '../../../src/platform/clock.ts';
import type { OwnerName, ServiceContext } from './context.ts';
import { PASSING_PHRASE } from './spans.ts';

type Eval = NonNullable<SeedDocument['evals']>[number];

/** Returns the two evals that score the run: every conversation passes the first. */
export function seedEvals({ marker }: ServiceContext): [first: Eval, second: Eval] {
  return [
    {
      id: 'parcel',
      name: `Check Parcel ${marker}`,
      category: 'check',
      kind: 'contains',
      params: { text: 'parcel', in: 'any' },
    },
    {
      id: 'promise',
      name: `Check Promise ${marker}`,
      category: 'check',
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
export const seededAgentName = ({ marker }: ServiceContext): string => `Check Agent ${marker}`;

/** Returns part of the URL of that agent, in another case than the seed has it. */
export const seededAgentUrlPart = ({ marker }: ServiceContext): string => `FIRST-${marker}.example`;

/** Returns the session id of the transcript that the run uploads. */
export const uploadSessionId = ({ marker }: ServiceContext): string => `sk-${marker}-upload`;

/** Returns the run name of the transcript that the run uploads. */
export const uploadRunName = ({ marker }: ServiceContext): string => `Check upload ${marker}`;

const MINUTE_MS = 60_000;

/**
 * Returns when a seeded session in the middle of the others starts: at noon of the previous day, so
 * that an earlier session of the same day exists.
 */
export const middleSessionMs = ({ baseMs }: ServiceContext): number =>
  Math.floor(baseMs / DAY_MS) * DAY_MS - DAY_MS / 2;

/** Returns the seed document of an owner, without its key. */
export function seedOwner(service: ServiceContext, owner: OwnerName): SeedDocument {
  const live = seedLiveEvals(service);
  switch (owner) {
    case 'main':
      return { ...live, ...seedSimulations(service) };
    case 'deleted':
    case 'idle':
    case 'apart':
      return live;
    case 'named':
      return { ...live, settings: { ...live.settings, run_name: `Check ${service.marker}` } };
    case 'paged':
    case 'bare':
    case 'limits':
    case 'rate':
    case 'backlog':
      return {};
  }
}

function seedSimulations(service: ServiceContext): SeedDocument {
  const { marker, baseMs } = service;
  const [first, second] = seedEvals(service);
  const outcomes = (
    firstOutcome: SeedOutcome['outcome'],
    secondOutcome?: SeedOutcome['outcome'],
  ): SeedOutcome[] => [
    { eval_name: first.name, outcome: firstOutcome, reasoning: 'Made up.' },
    ...(secondOutcome === undefined
      ? []
      : [{ eval_name: second.name, outcome: secondOutcome, reasoning: 'Made up.' }]),
  ];
  const hoursAgo = (hours: number): number => baseMs - hours * HOUR_MS;
  const middleMs = middleSessionMs(service);
  return {
    agents: [
      { name: seededAgentName(service), url: `https://first-${marker}.example/chat` },
      { name: `Check Other ${marker}`, url: `https://second-${marker}.example/chat` },
    ],
    simulations: [
      {
        name: `Check nightly ${marker}`,
        agent: seededAgentName(service),
        sessions: [
          // Fails, but the second eval did not score it.
          seedSession('early', hoursAgo(60), outcomes('fail')),
          seedSession('patient', hoursAgo(49), outcomes('pass', 'fail')),
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

const TURNS_PER_SESSION = 3;

function seedSession(
  persona: string,
  startMs: number,
  outcomes: SeedOutcome[],
  durationMinutes = 1,
): SeedSession {
  const createTurn = (_: unknown, index: number) => ({
    user_input: `Where is my parcel? This is question ${index + 1} of the ${persona} user.`,
    user_reason: 'It is late.',
    agent_response: `There, as I told the ${persona} user ${index} times.`,
  });
  return {
    scenario: 'late-parcel',
    persona,
    started_at: isoTime(startMs),
    ended_at: isoTime(startMs + durationMinutes * MINUTE_MS),
    turns: Array.from({ length: TURNS_PER_SESSION }, createTurn),
    outcomes,
  };
}

/** More sessions than the largest page holds. */
const MANY_SESSIONS = 505;

/** Returns a seed document with more sessions than the largest page holds. */
export function seedManySessions({ baseMs }: ServiceContext): SeedDocument {
  const startTimes = Array.from({ length: MANY_SESSIONS }, (_, index) =>
    isoTime(baseMs - index * 1000),
  );
  const outcomes: SeedOutcome[] = [{ eval_name: 'Any', outcome: 'pass' }];
  return {
    simulations: [
      {
        name: 'Many',
        agent: 'Any',
        sessions: startTimes.map((at) => ({ scenario: 's', persona: 'p', started_at: at })),
      },
    ],
    runs: [
      {
        name: 'Many',
        sessions: startTimes.map((at) => ({ source_session_id: at, started_at: at, outcomes })),
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
