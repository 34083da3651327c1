import { serviceApiKeyHeader } from '../../../src/contract/index.ts';
import { chain, instead, json, onAccepted, type When } from '../../engine/mutants/combinators.ts';
import { randomSeed } from '../../../src/platform/random.ts';
import { isoTime, systemClock } from '../../../src/platform/clock.ts';
import {
  variantsOf,
  type ProxyResponse,
  type ProxyRequest,
  type Transform,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';
import { hasKey, hasWrongKey, onItems, type Item } from './edits.ts';

const variant = variantsOf('service');
/** Where there is no clock to be moved, the judge waits for a minute. */
const patient = { intrusive: true, sleepMsMax: 1_500 } as const;

const controls =
  (path: string): When =>
  (asked) =>
    asked.path.startsWith(`/__admin/${path}`);

const PAGE = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Console</title><div id="root"></div>',
};

/** What is there before the run, without it: evals of its own, and history. */
const HISTORY = {
  evals: [
    { id: 'asked', name: 'Was asked', kind: 'contains', params: { text: 'where', in: 'user' } },
    { id: 'found', name: 'Was found', kind: 'contains', params: { text: 'way', in: 'agent' } },
  ],
  settings: { evals: ['asked', 'found'] },
};

/** Simulations of somebody else; whoever reads them knows of their agents no more than the name. */
function simulationsBefore(nowMs: number): object {
  const session = (hours: number, scenario: string, isFailed: boolean) => ({
    scenario,
    persona: 'any',
    started_at: isoTime(nowMs - hours * HOUR_MS),
    ended_at: isoTime(nowMs - hours * HOUR_MS + HOUR_MS / 2),
    turns: [{ user_input: 'Hello?', user_reason: 'greets', agent_response: 'Hello.' }],
    outcomes: [
      { eval_name: 'Polite', outcome: 'pass' },
      { eval_name: 'Resolved', outcome: isFailed ? 'fail' : 'pass' },
    ],
  });
  return {
    agents: [
      { name: 'Shop', url: 'https://shop.example/chat' },
      { name: 'Support', url: 'https://shop.example/help' },
    ],
    simulations: [
      {
        name: 'Weekly',
        agent: 'Shop',
        sessions: [
          session(9, 'refund', true),
          session(12, 'greeting', false),
          session(15, 'refund', false),
        ],
      },
      { name: 'Daily', agent: 'Support', sessions: [session(20, 'greeting', true)] },
    ],
  };
}

const HOUR_MS = 3_600_000;

/**
 * A service that the run can not set up, with a rate of its own: the given key stands for one that
 * no other run has. Of what it has there already it has told nobody.
 */
export const withoutControl =
  (
    answer: (asked: ProxyRequest) => ProxyResponse,
    inner: TransformFactory = passesOn,
  ): TransformFactory =>
  (): Transform => {
    const key = `sk_stranger_${randomSeed()}`;
    const owner = encodeURIComponent(key.slice(3));
    const change = inner();
    let made: Promise<ProxyResponse> | undefined;
    return async (asked, forward, clock) => {
      if (controls('')(asked)) return answer(asked);
      const seed = { ...HISTORY, ...simulationsBefore(clock.nowMs()), keys: [{ key }] };
      made ??= forward({ ...ADMIN, path: `/__admin/seed?owner=${owner}`, ...bodyOf(seed) });
      await made;
      if (!hasKey(asked) || hasWrongKey(asked)) return forward(asked);
      const own = { ...asked, headers: { ...asked.headers, [serviceApiKeyHeader]: key } };
      return change(own, forward, clock);
    };
  };

const passesOn: TransformFactory = () => (asked, forward) => forward(asked);

/** Moves the clock of the service behind on by what the judge did not wait for. */
const inStep: TransformFactory = () => {
  let last: { ms: number; realMs: number } | undefined;
  return async (asked, forward, clock) => {
    const now = { ms: clock.monotonicMs(), realMs: systemClock.monotonicMs() };
    const skippedMs = last ? now.ms - last.ms - (now.realMs - last.realMs) : 0;
    last = now;
    if (skippedMs > SKIPPED_MS_MIN) {
      const moved = bodyOf({ advance_ms: Math.round(skippedMs) });
      await forward({ ...ADMIN, path: '/__admin/clock', ...moved });
    }
    return forward(asked);
  };
};

const SKIPPED_MS_MIN = 1_000;

const ADMIN = {
  endpoint: 'admin',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  connection: {},
} as const;

const bodyOf = (json: object): Pick<ProxyRequest, 'body' | 'json'> => ({
  body: JSON.stringify(json),
  json,
});

/** It shows nothing at all below /__admin. */
export const NOT_FOUND = (): ProxyResponse => json(404, { message: 'Not Found' });

/** Rewrites the times of every session. */
const times = (rewrite: (time: string) => string): TransformFactory => {
  const edit = (item: Item): void => {
    for (const key of ['started_at', 'ended_at']) item[key] = rewrite(String(item[key]));
  };
  return chain(onItems('production', edit), onItems('simulations', edit));
};

/** Puts the date before the base name of the run, wherever it stands. */
const dateFirst = (body: Item): void => {
  body['run'] = String(body['run']).replace(/^(.*) (\d{4}-\d\d-\d\d)$/, '$2 $1');
};

const isRefusedKey: When = (asked) =>
  asked.endpoint !== undefined &&
  asked.endpoint !== 'admin' &&
  (!hasKey(asked) || hasWrongKey(asked));

/** Legal variants that services of others showed: what stands beside the interface, and precision. */
export const strangerVariants: readonly Variant[] = [
  variant('no-control', 'Has no control API.', chain(withoutControl(NOT_FOUND), inStep), patient),
  variant(
    'control-a-page',
    'Shows a page of its own below /__admin.',
    withoutControl(() => PAGE),
  ),
  variant(
    'control-broken',
    'Has a control API that takes no seed.',
    withoutControl((asked) =>
      controls('health')(asked) ? json(200, { status: 'healthy' }) : json(500, { message: 'No.' }),
    ),
  ),
  variant(
    'control-no-clock',
    'Has a control API without a clock.',
    chain(instead(controls('clock'), NOT_FOUND), inStep),
    patient,
  ),
  variant(
    'times-in-seconds',
    'Cuts times to the second.',
    times((time) => time.replace(/\.\d+/, '')),
  ),
  variant(
    'times-in-microseconds',
    'Gives times in microseconds.',
    times((time) => time.replace('Z', '000Z')),
  ),
  variant(
    'times-without-zone',
    'Gives times in UTC, and does not say so.',
    times((time) => time.replace('Z', '')),
  ),
  variant(
    'keys-to-login',
    'Sends whoever has no key to a login.',
    instead(isRefusedKey, () => ({ status: 302, headers: { location: '/login' }, body: '' })),
  ),
  variant(
    'run-date-first',
    'Puts the date before the base name of the run.',
    chain(onAccepted('end', dateFirst), onItems('production', dateFirst)),
  ),
];
