import { chain, instead, json, onAccepted, type When } from './combinators.ts';
import { randomSeed } from '../../src/shared/chance.ts';
import {
  variantsOf,
  type Answer,
  type Asked,
  type Transform,
  type TransformFactory,
  type Variant,
} from './mutant.ts';
import { hasKey, hasWrongKey, KEY_HEADER, onItems, type Item } from './service-edits.ts';

const variant = variantsOf('service');
const intrusive = { intrusive: true } as const;

const controls =
  (path: string): When =>
  (asked) =>
    asked.path.startsWith(`/__admin/${path}`);

const PAGE = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Console</title><div id="root"></div>',
};

/**
 * A service that the run can not set up, with a rate of its own: the given key stands for one that
 * no other run has.
 */
const withoutControl =
  (answer: (asked: Asked) => Answer): TransformFactory =>
  (): Transform => {
    const key = `sk_stranger_${randomSeed()}`;
    const owner = encodeURIComponent(key.slice(3));
    let made: Promise<Answer> | undefined;
    return async (asked, forward) => {
      if (controls('')(asked)) return answer(asked);
      made ??= forward({
        ...SEED,
        path: `/__admin/seed?owner=${owner}`,
        ...bodyOf({ keys: [{ key }] }),
      });
      await made;
      if (!hasKey(asked) || hasWrongKey(asked)) return forward(asked);
      return forward({ ...asked, headers: { ...asked.headers, [KEY_HEADER]: key } });
    };
  };

const SEED = {
  endpoint: 'admin',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  connection: {},
} as const;

const bodyOf = (json: object): Pick<Asked, 'body' | 'json'> => ({
  body: JSON.stringify(json),
  json,
});

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
  variant(
    'no-control',
    'Has no control API.',
    withoutControl(() => json(404, { message: 'Not Found' })),
    intrusive,
  ),
  variant(
    'control-a-page',
    'Shows a page of its own below /__admin.',
    withoutControl(() => PAGE),
    intrusive,
  ),
  variant(
    'control-broken',
    'Has a control API that takes no seed.',
    withoutControl((asked) =>
      controls('health')(asked) ? json(200, { status: 'healthy' }) : json(500, { message: 'No.' }),
    ),
    intrusive,
  ),
  variant(
    'control-no-clock',
    'Has a control API without a clock.',
    instead(controls('clock'), () => json(404, { message: 'Not Found' })),
    intrusive,
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
