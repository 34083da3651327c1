import { isoTime } from '../../../src/platform/clock.ts';
import type { RequirementId } from '../index.ts';
import {
  changes,
  delays,
  drop,
  edited,
  failure,
  instead,
  json,
  onHealth,
  replaces,
  set,
  to,
  type Edit,
} from '../../engine/mutants/combinators.ts';
import { mutantsOf, type Mutant, type TransformFactory } from '../../engine/mutants/mutant.ts';

const mutant = mutantsOf('health');

const field = (name: string, breaks: string, kills: RequirementId, ...edits: Edit[]): Mutant =>
  mutant(name, breaks, [kills], onHealth(...edits));

/** The answer of a check that finds this status, with the HTTP status that comes along. */
const finds = (status: string, http: number, more: object = {}): TransformFactory =>
  instead(to('health'), (_asked, clock) =>
    json(http, { status, timestamp: isoTime(clock.nowMs()), ...more }),
  );

const PAGE = { headers: { 'content-type': 'text/plain' }, body: 'OK' };
const hasAccept = to('health', ({ headers }) => headers['accept'] === 'application/json');
const health = to('health');
const error = { message: 'The database does not answer.', details: 'It was asked twice.' };

const wantsKey = (status: number): TransformFactory =>
  replaces(health, { status, body: 'Unauthorized' });

/** What it answers to whom, and with which status. */
const answers: Mutant[] = [
  mutant(
    'not-there',
    'Has no /health.',
    ['HEALTH-001'],
    instead(health, () => json(404, { detail: 'Not Found' })),
  ),
  mutant(
    'healthy-404',
    'Says healthy with 404.',
    ['HEALTH-001', 'HEALTH-002'],
    finds('healthy', 404),
  ),
  mutant('text', 'Answers with the word OK.', ['HEALTH-001'], replaces(health, PAGE)),
  mutant('empty', 'Answers with nothing.', ['HEALTH-001'], replaces(health, { body: '' })),
  mutant(
    'an-array',
    'Answers with a list of checks.',
    ['HEALTH-001'],
    replaces(health, { body: '[]' }),
  ),
  mutant(
    'bad-gateway',
    'Answers 502.',
    ['HEALTH-001'],
    replaces(health, { status: 502, body: '' }),
  ),
  mutant(
    'drops-connection',
    'Drops the connection when asked for JSON.',
    ['HEALTH-006'],
    () => async (asked, forward) => (hasAccept(asked) ? 'dropped' : forward(asked)),
  ),
  mutant('healthy-503', 'Is healthy with 503.', ['HEALTH-002'], finds('healthy', 503)),
  mutant('healthy-201', 'Is healthy with 201.', ['HEALTH-002'], finds('healthy', 201)),
  mutant('degraded-503', 'Is degraded with 503.', ['HEALTH-003'], finds('degraded', 503)),
  mutant('degraded-207', 'Is degraded with 207.', ['HEALTH-003'], finds('degraded', 207)),
  mutant(
    'unhealthy-200',
    'Is unhealthy with 200.',
    ['HEALTH-004'],
    finds('unhealthy', 200, { error }),
  ),
  mutant('wants-a-key', 'Wants a key.', ['HEALTH-005'], wantsKey(401)),
  mutant('forbids', 'Answers 403 without a key.', ['HEALTH-005'], wantsKey(403)),
  mutant(
    'refuses-accept',
    'Refuses Accept: application/json with 406.',
    ['HEALTH-006'],
    replaces(hasAccept, { status: 406, body: '' }),
  ),
  mutant(
    'text-with-accept',
    'Answers with text when asked for JSON.',
    ['HEALTH-006'],
    replaces(hasAccept, PAGE),
  ),
  mutant(
    'dies-of-malformed-json',
    'Answers 502 after any request that was not JSON.',
    ['HEALTH-007'],
    () => {
      let isDead = false;
      return async (asked, forward) => {
        if (asked.endpoint === 'chat' && asked.json === undefined) isDead = true;
        const isLost = isDead && asked.endpoint === 'health';
        return isLost ? { status: 502, headers: {}, body: '' } : forward(asked);
      };
    },
    { areas: ['chat', 'health'] },
  ),
  mutant(
    'failed-without-code',
    'Answers 500 when the check fails, with a code of another endpoint.',
    ['HEALTH-032'],
    instead(health, () => failure(500, 'server_error')),
  ),
  mutant(
    'failed-with-health',
    'Answers 500 with a health answer.',
    ['HEALTH-004', 'HEALTH-032'],
    finds('unhealthy', 500, { error }),
  ),
  mutant(
    'failed-with-text',
    'Answers 500 with text.',
    ['HEALTH-032'],
    instead(health, () => ({ ...PAGE, status: 500 })),
  ),
  mutant(
    'failed-without-message',
    'Answers 500 without a message.',
    ['HEALTH-032'],
    changes(health, (_answer, asked) =>
      edited(failure(500, 'health_check_failed'), asked, drop('/error/message')),
    ),
  ),
  mutant(
    'failed-type',
    'Answers 500 with a type of its own.',
    ['HEALTH-032'],
    changes(health, (_answer, asked) =>
      edited(failure(500, 'health_check_failed'), asked, set('/error/type', 'health_error')),
    ),
  ),
];

/** How long it takes. */
const times: Mutant[] = [
  mutant('slow', 'Takes 2.5 s.', ['HEALTH-030'], delays(health, 2_500), { clockFactor: 10 }),
  mutant('once-beyond-ten-seconds', 'Takes 12 s once.', ['HEALTH-031'], delays(hasAccept, 12_000), {
    clockFactor: 20,
  }),
  mutant(
    'beyond-ten-seconds',
    'Takes 12 s every time.',
    ['HEALTH-030', 'HEALTH-031'],
    delays(health, 12_000),
    { clockFactor: 40 },
  ),
];

const dependency = (name: string): Mutant =>
  field(
    `${name.replaceAll('_', '-')}-up`,
    `Calls ${name} up, not healthy.`,
    'HEALTH-017',
    set(`/dependencies/${name}`, 'up'),
  );
const percentage = (name: string, value: unknown, says: string): Mutant =>
  field(
    `${name.replaceAll('_', '-')}-${says}`,
    `Gives ${name} as ${JSON.stringify(value)}.`,
    'HEALTH-020',
    set(`/metrics/${name}`, value),
  );

/** What stands in the answer. */
const fields: Mutant[] = [
  field('status-missing', 'Leaves status out.', 'HEALTH-010', drop('/status'), drop('/error')),
  field('status-ok', 'Calls itself ok.', 'HEALTH-010', set('/status', 'ok'), drop('/error')),
  field('status-up', 'Calls itself UP.', 'HEALTH-010', set('/status', 'UP'), drop('/error')),
  field(
    'status-capital',
    'Writes Healthy.',
    'HEALTH-010',
    set('/status', 'Healthy'),
    drop('/error'),
  ),
  field(
    'status-true',
    'Gives a boolean for status.',
    'HEALTH-010',
    set('/status', true),
    drop('/error'),
  ),
  field('timestamp-missing', 'Leaves timestamp out.', 'HEALTH-011', drop('/timestamp')),
  field('timestamp-unix', 'Gives Unix time.', 'HEALTH-011', set('/timestamp', 1_795_167_000)),
  field(
    'timestamp-digits',
    'Gives Unix time as text.',
    'HEALTH-011',
    set('/timestamp', '1795167000'),
  ),
  field(
    'timestamp-http-date',
    'Gives the timestamp as an HTTP date.',
    'HEALTH-011',
    set('/timestamp', 'Fri, 20 Nov 2026 09:30:00 GMT'),
  ),
  field(
    'timestamp-space',
    'Puts a space between date and time.',
    'HEALTH-011',
    set('/timestamp', '2026-11-20 09:30:00'),
  ),
  field('version-a-number', 'Gives version as a number.', 'HEALTH-012', set('/version', 1.4)),
  field('version-null', 'Makes version null.', 'HEALTH-012', set('/version', null)),
  field('uptime-a-string', 'Gives uptime in words.', 'HEALTH-013', set('/uptime', '3 days')),
  field('uptime-fraction', 'Gives uptime with a fraction.', 'HEALTH-013', set('/uptime', 17.25)),
  field(
    'webrtc-status-a-boolean',
    'Gives webrtc_status as a boolean.',
    'HEALTH-014',
    set('/webrtc_status', true),
  ),
  field(
    'dependencies-a-list',
    'Lists its dependencies.',
    'HEALTH-016',
    set('/dependencies', ['database']),
  ),
  field('dependencies-null', 'Makes dependencies null.', 'HEALTH-016', set('/dependencies', null)),
  dependency('database'),
  dependency('llm_service'),
  dependency('external_apis'),
  field(
    'dependency-an-object',
    'Tells more of a dependency than one word.',
    'HEALTH-017',
    set('/dependencies/database', { status: 'healthy' }),
  ),
  field('metrics-null', 'Makes metrics null.', 'HEALTH-018', set('/metrics', null)),
  field('metrics-a-list', 'Lists its metrics.', 'HEALTH-018', set('/metrics', [])),
  field(
    'response-time-a-string',
    'Gives response_time_avg with its unit.',
    'HEALTH-019',
    set('/metrics/response_time_avg', '250 ms'),
  ),
  percentage('error_rate', -1, 'negative'),
  percentage('memory_usage', 512_000_000, 'in-bytes'),
  percentage('cpu_usage', '12 %', 'with-a-sign'),
  field(
    'error-when-healthy',
    'Carries an error though it is healthy.',
    'HEALTH-021',
    set('/status', 'healthy'),
    set('/error', error),
  ),
  field(
    'error-null-when-healthy',
    'Carries a null error though it is healthy.',
    'HEALTH-021',
    set('/status', 'healthy'),
    set('/error', null),
  ),
  mutant(
    'error-a-string',
    'Is unhealthy with a text for an error.',
    ['HEALTH-021'],
    finds('unhealthy', 503, { error: 'The database does not answer.' }),
  ),
  mutant(
    'error-without-details',
    'Is unhealthy with an error that has no details.',
    ['HEALTH-022'],
    finds('unhealthy', 503, { error: { message: error.message } }),
  ),
  mutant(
    'error-without-message',
    'Is unhealthy with an error that has no message.',
    ['HEALTH-022'],
    finds('unhealthy', 503, { error: { details: error.details } }),
  ),
];

/** Mutants of `GET /health`. */
export const healthMutants: readonly Mutant[] = [...answers, ...times, ...fields];
