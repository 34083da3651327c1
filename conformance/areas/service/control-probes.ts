import { cost, type Step } from '../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from './context.ts';
import type { SeedDocument, SeedOutcome } from '../../../src/contract/index.ts';
import { isoTime } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';
import { PREFLIGHT, isAccepted } from '../../engine/transcript/reading.ts';
import { PROMISE } from './spans.ts';
import { ownerNames, type OwnerName, type ServiceContext } from './context.ts';

/** A request to the control API, which is none of the interface. */
export function admin(step: string, path: string, json?: unknown, method?: Step['method']): Step {
  return {
    endpoint: 'admin',
    step,
    intent: 'open',
    path,
    ...(json === undefined ? {} : { body: { json } }),
    ...(method === undefined ? {} : { method }),
  };
}

/** The query that makes a control request be about an owner. */
export const about = (service: ServiceContext, owner: OwnerName): string =>
  `?owner=${encodeURIComponent(service.ownerId(owner))}`;

/** The evals that score what the kit sends: every conversation passes the first. */
export function evalsOf({ marker }: ServiceContext): NonNullable<SeedDocument['evals']> {
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
      params: { text: PROMISE, in: 'agent' },
    },
  ];
}

/** The base name of the daily run of the owner `named`. */
export const runNameOf = ({ marker }: ServiceContext): string => `Check ${marker}`;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

/**
 * When the seeded session started that is neither the first nor the last: at noon of the day before,
 * so that another one of its day started before it.
 */
export const middleSeedMs = ({ baseMs }: ServiceContext): number =>
  Math.floor(baseMs / DAY_MS) * DAY_MS - DAY_MS / 2;

/** More than the largest page holds. */
const MANY = 505;

function seedOf(service: ServiceContext, owner: OwnerName): SeedDocument {
  const evals = evalsOf(service);
  const live = { evals, settings: { evals: evals.map(({ id }) => id) } };
  switch (owner) {
    case 'main':
      return { ...live, ...simulationsOf(service) };
    case 'deleted':
    case 'idle':
    case 'apart':
      return live;
    case 'named':
      return { evals, settings: { ...live.settings, run_name: runNameOf(service) } };
    case 'paged':
    case 'bare':
    case 'limits':
    case 'rate':
    case 'backlog':
      return {};
  }
}

type SeedSession = NonNullable<
  NonNullable<SeedDocument['simulations']>[number]['sessions']
>[number];

function simulationsOf(service: ServiceContext): SeedDocument {
  const { marker, baseMs } = service;
  const [parcel = '', promise = ''] = evalsOf(service).map(({ name }) => name);
  const outcome = (name: string, verdict: SeedOutcome['outcome']): SeedOutcome => ({
    eval_name: name,
    outcome: verdict,
    reasoning: 'Made up.',
  });
  const [passed, kept] = [outcome(parcel, 'pass'), outcome(promise, 'pass')];
  const [lacking, broken] = [outcome(parcel, 'fail'), outcome(promise, 'fail')];
  const before = (hours: number): number => baseMs - hours * HOUR_MS;
  const middleMs = middleSeedMs(service);
  return {
    agents: [
      { name: `Check Agent ${marker}`, url: `https://first-${marker}.example/chat` },
      { name: `Check Other ${marker}`, url: `https://second-${marker}.example/chat` },
    ],
    simulations: [
      {
        name: `Check nightly ${marker}`,
        agent: `Check Agent ${marker}`,
        sessions: [
          seedSession('patient', before(49), [passed, broken]),
          // It is there when the one after it starts, and did not start after that.
          seedSession('lasting', middleMs - 5 * MINUTE_MS, [passed, broken], 10),
          seedSession('calm', middleMs, [passed, kept]),
          seedSession('brief', before(4), [lacking, broken]),
        ],
      },
      {
        name: `Check deleted ${marker}`,
        agent: `Check Other ${marker}`,
        deleted: true,
        sessions: [seedSession('absent', before(2), [passed])],
      },
    ],
  };
}

const SEED_TURNS = 3;

function seedSession(
  persona: string,
  startMs: number,
  outcomes: SeedOutcome[],
  minutes = 1,
): SeedSession {
  const turn = (_: unknown, index: number) => ({
    user_input: `Where is it? I ask for time ${index + 1}, and am ${persona}.`,
    user_reason: 'It is late.',
    agent_response: `There, as I said ${index} times to who is ${persona}.`,
  });
  return {
    scenario: 'late-parcel',
    persona,
    started_at: isoTime(startMs),
    ended_at: isoTime(startMs + minutes * MINUTE_MS),
    turns: Array.from({ length: SEED_TURNS }, turn),
    outcomes,
  };
}

/** More sessions than a page holds. */
export function manyOf({ baseMs }: ServiceContext): SeedDocument {
  const started = Array.from({ length: MANY }, (_, index) => isoTime(baseMs - index * 1000));
  const outcomes: SeedOutcome[] = [{ eval_name: 'Any', outcome: 'pass' }];
  const simulated = (at: string) => ({ scenario: 's', persona: 'p', started_at: at });
  return {
    simulations: [{ name: 'Many', agent: 'Any', sessions: started.map(simulated) }],
    runs: [
      {
        name: 'Many',
        sessions: started.map((at) => ({ source_session_id: at, started_at: at, outcomes })),
      },
    ],
  };
}

const probe: ServiceProbe = {
  id: PREFLIGHT,
  area: 'service',
  phase: 'preflight',
  exercises: [],
  cost: cost(3),
  async run(context) {
    const read = (endpoint: 'production' | 'simulations'): Step => ({
      endpoint,
      step: 'plain',
      intent: 'valid',
    });
    // Where reading is all that is broken, that is a finding, and the rest is judged.
    const unknown = `sk-${context.service.marker}-nobody`;
    const end: Step = { endpoint: 'end', step: 'plain', intent: 'open', path: unknown };
    const probes = [read('production'), read('simulations'), end];
    await Promise.all(probes.map((step) => context.send(step)));
  },
};

const control: ServiceProbe = {
  id: 'service/control',
  area: 'service',
  phase: 'preflight',
  exercises: [],
  cost: cost(ownerNames.length + 3),
  async run(context) {
    const health = await context.send(admin('health', '/health', undefined, 'GET'));
    // An application of one page shows that page at whatever path: it is no control API.
    if (!health || !isAccepted(health) || !isObject(health.json)) return;
    const { service } = context;
    service.hasControlApi = true;
    const made = await Promise.all(ownerNames.map((name) => makeOwner(context, name)));
    service.hasControlApi = made.every(Boolean);
    if (!service.hasControlApi) return;
    const { marker, baseMs } = service;
    await Promise.all([
      context.send(
        admin('delete an eval', `/evals/parcel${about(service, 'deleted')}`, undefined, 'DELETE'),
      ),
      context.send(
        admin('upload', `/transcripts${about(service, 'main')}`, {
          session_id: uploadIdOf(service),
          started_at: isoTime(baseMs - 6 * HOUR_MS),
          turns: [{ user_input: 'Where is my parcel?', agent_response: 'Here.' }],
          run: `Check upload ${marker}`,
          evals: ['parcel'],
        }),
      ),
    ]);
  },
};

/** The session id of the transcript that the run uploads. */
export const uploadIdOf = ({ marker }: ServiceContext): string => `sk-${marker}-upload`;

async function makeOwner(context: ServiceProbeContext, name: OwnerName): Promise<boolean> {
  const { service } = context;
  const { key } = service.keyFor(name);
  if (typeof key !== 'object') return false;
  const document = { keys: [{ key: key.own }], ...seedOf(service, name) };
  const answer = await context.send(
    admin(`make ${name}`, `/seed${about(service, name)}`, document),
  );
  return answer !== undefined && isAccepted(answer);
}

/** Finds whether there is a service, and a control API beside it. */
export const controlScenarios: readonly ServiceProbe[] = [probe, control];
