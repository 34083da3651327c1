import { breakAfterMalformedJson } from '../refusal-mutants.ts';
import { isoTime } from '../../../src/platform/clock.ts';
import type { HealthRequirementId } from './requirements.ts';
import {
  changeResponse,
  delay,
  drop,
  editBody,
  errorResponse,
  respondInstead,
  jsonResponse,
  editHealth,
  replaceParts,
  set,
  to,
  type Edit,
  dropInstead,
} from '../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type TransformFactory,
} from '../../engine/mutants/mutant.ts';

const mutant = createMutantFactory('health');

const field = (
  name: string,
  description: string,
  kills: HealthRequirementId,
  ...edits: Edit[]
): Mutant => mutant(name, description, [kills], editHealth(...edits));

/** Responds with a status in the body and an HTTP status. */
export const reports = (status: string, http: number, more: object = {}): TransformFactory =>
  respondInstead(to('health'), (_request, clock) =>
    jsonResponse(http, { status, timestamp: isoTime(clock.nowMs()), ...more }),
  );

const PAGE = { headers: { 'content-type': 'text/plain' }, body: 'OK' };
const hasAccept = to('health', ({ headers }) => headers['accept'] === 'application/json');
const health = to('health');
/** An error that an unhealthy sandbox may report. */
export const error = {
  message: 'The database does not respond.',
  details: 'Two attempts timed out.',
};

const requiresKey = (status: number): TransformFactory =>
  replaceParts(health, { status, body: 'Unauthorized' });

/** Wrong status codes and bodies. */
const responses: Mutant[] = [
  mutant(
    'not-there',
    'Has no `GET /health`.',
    ['HEALTH-001'],
    respondInstead(health, () => jsonResponse(404, { detail: 'Not Found' })),
  ),
  mutant(
    'healthy-404',
    'Reports "healthy" with 404.',
    ['HEALTH-001', 'HEALTH-002'],
    reports('healthy', 404),
  ),
  mutant('text', 'Responds with the text OK.', ['HEALTH-001'], replaceParts(health, PAGE)),
  mutant(
    'empty',
    'Responds with an empty body.',
    ['HEALTH-001'],
    replaceParts(health, { body: '' }),
  ),
  mutant(
    'an-array',
    'Responds with a JSON array.',
    ['HEALTH-001'],
    replaceParts(health, { body: '[]' }),
  ),
  mutant(
    'text-after-json',
    'Sends a comment after the JSON object.',
    ['HEALTH-001'],
    changeResponse(health, (response) => ({
      ...response,
      body: `${response.body}\n<!-- 1 ms -->`,
    })),
  ),
  mutant(
    'bad-gateway',
    'Responds with 502.',
    ['HEALTH-001'],
    replaceParts(health, { status: 502, body: '' }),
  ),
  mutant(
    'drops-connection',
    'Drops the connection if the request accepts JSON.',
    ['HEALTH-006'],
    dropInstead(hasAccept),
  ),
  mutant('healthy-503', 'Reports "healthy" with 503.', ['HEALTH-002'], reports('healthy', 503)),
  mutant('healthy-201', 'Reports "healthy" with 201.', ['HEALTH-002'], reports('healthy', 201)),
  mutant('degraded-503', 'Reports "degraded" with 503.', ['HEALTH-003'], reports('degraded', 503)),
  mutant('degraded-207', 'Reports "degraded" with 207.', ['HEALTH-003'], reports('degraded', 207)),
  mutant(
    'unhealthy-200',
    'Reports "unhealthy" with 200.',
    ['HEALTH-004'],
    reports('unhealthy', 200, { error }),
  ),
  mutant('wants-a-key', 'Responds with 401 without a key.', ['HEALTH-005'], requiresKey(401)),
  mutant('forbids', 'Responds with 403 without a key.', ['HEALTH-005'], requiresKey(403)),
  mutant(
    'refuses-accept',
    'Refuses Accept: application/json with 406.',
    ['HEALTH-006'],
    replaceParts(hasAccept, { status: 406, body: '' }),
  ),
  mutant(
    'text-with-accept',
    'Responds with text if the request accepts JSON.',
    ['HEALTH-006'],
    replaceParts(hasAccept, PAGE),
  ),
  mutant(
    'dies-of-malformed-json',
    'Responds with 502 after a request that was not JSON.',
    ['HEALTH-007'],
    breakAfterMalformedJson('chat', health, () => ({ status: 502, headers: {}, body: '' })),
    { areas: ['chat', 'health'] },
  ),
  mutant(
    'failed-without-code',
    'Responds to a failed check with the error code of another endpoint.',
    ['HEALTH-032'],
    respondInstead(health, () => errorResponse(500, 'server_error')),
  ),
  mutant(
    'failed-with-health',
    'Responds with 500 and a health report.',
    ['HEALTH-004', 'HEALTH-032'],
    reports('unhealthy', 500, { error }),
  ),
  mutant(
    'failed-with-text',
    'Responds with 500 and text.',
    ['HEALTH-032'],
    respondInstead(health, () => ({ ...PAGE, status: 500 })),
  ),
  mutant(
    'failed-without-message',
    'Responds with 500 and omits `error.message`.',
    ['HEALTH-032'],
    changeResponse(health, (_response, request) =>
      editBody(errorResponse(500, 'health_check_failed'), request, drop('/error/message')),
    ),
  ),
  mutant(
    'failed-type',
    'Responds with 500 and its own error type.',
    ['HEALTH-032'],
    changeResponse(health, (_response, request) =>
      editBody(
        errorResponse(500, 'health_check_failed'),
        request,
        set('/error/type', 'health_error'),
      ),
    ),
  ),
];

/** Slow responses. */
const times: Mutant[] = [
  mutant('slow', 'Takes 2.5 s for each response.', ['HEALTH-030'], delay(health, 2_500), {
    clockFactor: 10,
  }),
  mutant(
    'once-beyond-ten-seconds',
    'Takes 12 s for one response.',
    ['HEALTH-031'],
    delay(hasAccept, 12_000),
    {
      clockFactor: 8,
    },
  ),
  mutant(
    'beyond-ten-seconds',
    'Takes 12 s for each response.',
    ['HEALTH-030', 'HEALTH-031'],
    delay(health, 12_000),
    { clockFactor: 10 },
  ),
];

const dependency = (name: string): Mutant =>
  field(
    `${name.replaceAll('_', '-')}-up`,
    `Sends "up" for the dependency ${name}.`,
    'HEALTH-017',
    set(`/dependencies/${name}`, 'up'),
  );
const percentage = (name: string, value: unknown, suffix: string): Mutant =>
  field(
    `${name.replaceAll('_', '-')}-${suffix}`,
    `Sends ${name} as ${JSON.stringify(value)}.`,
    'HEALTH-020',
    set(`/metrics/${name}`, value),
  );

/** Wrong fields. */
const fields: Mutant[] = [
  field('status-missing', 'Omits `status`.', 'HEALTH-010', drop('/status'), drop('/error')),
  field('status-ok', 'Sends the status "ok".', 'HEALTH-010', set('/status', 'ok'), drop('/error')),
  field('status-up', 'Sends the status "UP".', 'HEALTH-010', set('/status', 'UP'), drop('/error')),
  field(
    'status-capital',
    'Sends the status "Healthy", capitalized.',
    'HEALTH-010',
    set('/status', 'Healthy'),
    drop('/error'),
  ),
  field(
    'status-true',
    'Sends `status` as a boolean.',
    'HEALTH-010',
    set('/status', true),
    drop('/error'),
  ),
  field('timestamp-missing', 'Omits `timestamp`.', 'HEALTH-011', drop('/timestamp')),
  field(
    'timestamp-unix',
    'Sends `timestamp` as Unix time.',
    'HEALTH-011',
    set('/timestamp', 1_795_167_000),
  ),
  field(
    'timestamp-digits',
    'Sends `timestamp` as Unix time in a string.',
    'HEALTH-011',
    set('/timestamp', '1795167000'),
  ),
  field(
    'timestamp-http-date',
    'Sends `timestamp` as an HTTP date.',
    'HEALTH-011',
    set('/timestamp', 'Fri, 20 Nov 2026 09:30:00 GMT'),
  ),
  field(
    'timestamp-space',
    'Sends `timestamp` with a space between date and time.',
    'HEALTH-011',
    set('/timestamp', '2026-11-20 09:30:00'),
  ),
  field('version-a-number', 'Sends `version` as a number.', 'HEALTH-012', set('/version', 1.4)),
  field('version-null', 'Sends `version` as null.', 'HEALTH-012', set('/version', null)),
  field('uptime-a-string', 'Sends `uptime` in words.', 'HEALTH-013', set('/uptime', '3 days')),
  field('uptime-fraction', 'Sends `uptime` with a fraction.', 'HEALTH-013', set('/uptime', 17.25)),
  field(
    'webrtc-status-a-boolean',
    'Sends `webrtc_status` as a boolean.',
    'HEALTH-014',
    set('/webrtc_status', true),
  ),
  field(
    'dependencies-a-list',
    'Sends `dependencies` as an array.',
    'HEALTH-016',
    set('/dependencies', ['database']),
  ),
  field(
    'dependencies-null',
    'Sends `dependencies` as null.',
    'HEALTH-016',
    set('/dependencies', null),
  ),
  dependency('database'),
  dependency('llm_service'),
  dependency('external_apis'),
  field(
    'dependency-an-object',
    'Sends the status of a dependency as an object.',
    'HEALTH-017',
    set('/dependencies/database', { status: 'healthy' }),
  ),
  field('metrics-null', 'Sends `metrics` as null.', 'HEALTH-018', set('/metrics', null)),
  field('metrics-a-list', 'Sends `metrics` as an array.', 'HEALTH-018', set('/metrics', [])),
  field(
    'response-time-a-string',
    'Sends `response_time_avg` with its unit.',
    'HEALTH-019',
    set('/metrics/response_time_avg', '250 ms'),
  ),
  percentage('error_rate', -1, 'negative'),
  percentage('memory_usage', 512_000_000, 'in-bytes'),
  percentage('cpu_usage', '12 %', 'with-a-sign'),
  field(
    'error-when-healthy',
    'Sends `error` with the status "healthy".',
    'HEALTH-021',
    set('/status', 'healthy'),
    set('/error', error),
  ),
  field(
    'error-null-when-healthy',
    'Sends `error` as null with the status "healthy".',
    'HEALTH-021',
    set('/status', 'healthy'),
    set('/error', null),
  ),
  mutant(
    'error-a-string',
    'Sends `error` as a string.',
    ['HEALTH-021'],
    reports('unhealthy', 503, { error: 'The database does not respond.' }),
  ),
  mutant(
    'error-without-details',
    'Omits `error.details`.',
    ['HEALTH-022'],
    reports('unhealthy', 503, { error: { message: error.message } }),
  ),
  mutant(
    'error-without-message',
    'Omits `error.message`.',
    ['HEALTH-022'],
    reports('unhealthy', 503, { error: { details: error.details } }),
  ),
];

/** Mutants of `GET /health`. */
export const healthMutants: readonly Mutant[] = [...responses, ...times, ...fields];
