import type { Ledger } from '../../engine/requirement.ts';

const SHAPE_REASON =
  "The service expects this type before each simulation; it drops another value or doesn't start the simulation.";
const STATUS_REASON =
  'The service decides from the HTTP status and the body together whether a simulation can start.';

/** The requirements for `GET /health` (spec 2.10, 3.3, 4.6, 7, 8). */
export const healthRequirements = {
  'HEALTH-001': {
    level: 'must',
    section: '4.6',
    statements: ['4.6.1', '4.6.2', '4.6.3', '4.6.5', '4.6.6', '3.3.1'],
    rule: '`GET /health` responds with 200, 503, or 500 and a JSON object.',
    reason: STATUS_REASON,
    observability: 'black-box',
  },
  'HEALTH-002': {
    level: 'must',
    section: '3.3',
    statements: ['3.3.1', '4.6.6'],
    rule: 'A response with the status `healthy` has HTTP status 200.',
    reason: STATUS_REASON,
    observability: 'black-box',
  },
  'HEALTH-003': {
    level: 'must',
    section: '3.3',
    statements: ['3.3.2', '4.6.6'],
    rule: 'A response with the status `degraded` has HTTP status 200.',
    reason: STATUS_REASON,
    observability: 'provoked',
  },
  'HEALTH-004': {
    level: 'must',
    section: '3.3',
    statements: ['3.3.3', '7.b10', '4.6.6'],
    rule: 'A response with the status `unhealthy` has HTTP status 503.',
    reason: STATUS_REASON,
    observability: 'provoked',
  },
  'HEALTH-005': {
    level: 'must',
    section: '4.6',
    statements: ['4.6.4', '5.b4'],
    rule: '`GET /health` works without a key.',
    reason:
      'The service checks health before it knows whether its key works; a 401 looks like a broken sandbox.',
    observability: 'black-box',
  },
  'HEALTH-006': {
    level: 'must',
    section: '4.6',
    statements: ['4.6.3'],
    rule: '`GET /health` responds the same with and without `Accept: application/json`.',
    reason: 'The service may send this header; a sandbox that rejects it looks broken.',
    observability: 'black-box',
  },
  'HEALTH-007': {
    level: 'must',
    section: '4.6',
    statements: ['4.6.1', '4.6.5'],
    rule: '`GET /health` still responds after malformed requests.',
    reason: 'One malformed request must not take the sandbox down for other simulations.',
    observability: 'black-box',
  },
  'HEALTH-010': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.1', '2.10.2', '7.b10'],
    rule: '`status` is `healthy`, `degraded`, or `unhealthy`.',
    reason: STATUS_REASON,
    observability: 'black-box',
  },
  'HEALTH-011': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.3', '7.b10'],
    rule: '`timestamp` is an ISO 8601 string.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-012': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.4', '2.10.5'],
    rule: '`version` is a string, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-013': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.7', '2.10.8'],
    rule: '`uptime` is an integer, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-014': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.9', '2.10.10'],
    rule: '`webrtc_status` is a string, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-015': {
    level: 'may',
    section: '2.10',
    statements: ['2.10.11'],
    rule: '`webrtc_status` is typically `operational`.',
    reason:
      'The specification shows only this value and requires none, so other values are only reported.',
    observability: 'black-box',
  },
  'HEALTH-016': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.12', '2.10.13'],
    rule: '`dependencies` is an object, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-017': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.14'],
    rule: '`database`, `llm_service`, and `external_apis` in `dependencies` are `healthy` or `unhealthy`, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-018': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.15', '2.10.16'],
    rule: '`metrics` is an object, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-019': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.17'],
    rule: '`metrics.response_time_avg` is a number, if present.',
    reason: SHAPE_REASON,
    observability: 'black-box',
  },
  'HEALTH-020': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.18'],
    rule: '`error_rate`, `memory_usage`, and `cpu_usage` in `metrics` are numbers from 0 to 100, if present.',
    reason:
      "The service reads them as percentages; bytes, units, or negative numbers can't be read that way.",
    observability: 'black-box',
  },
  'HEALTH-021': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.19'],
    rule: '`error` is an object, and is present only when `status` is `unhealthy`.',
    reason:
      "With an error next to a healthy status, the service can't tell which of the two is true.",
    observability: 'black-box',
  },
  'HEALTH-022': {
    level: 'must',
    section: '2.10',
    statements: ['2.10.20'],
    rule: '`error` of an unhealthy response has `message` and `details`.',
    reason: "Without them, the customer doesn't learn why a simulation can't start.",
    observability: 'provoked',
  },
  'HEALTH-023': {
    level: 'may',
    section: '2.10',
    statements: ['2.10.19'],
    rule: 'An unhealthy response has an `error`.',
    reason: "The specification doesn't clearly require it, so its absence is only reported.",
    observability: 'provoked',
  },
  'HEALTH-030': {
    level: 'target',
    section: '8',
    statements: ['8.b5'],
    rule: 'The median latency of `GET /health` is under 2 s.',
    reason:
      'The service requests it before each simulation, so a slow response delays every start.',
    observability: 'black-box',
  },
  'HEALTH-031': {
    level: 'must',
    section: '8',
    statements: ['8.b6'],
    rule: 'Every `GET /health` response arrives within 10 s.',
    reason: "The service gives up after 10 s, and the simulation doesn't start.",
    observability: 'black-box',
  },
  'HEALTH-032': {
    level: 'must',
    section: '7',
    statements: ['4.6.7', '4.6.8', '7.b9', '7.b1', '7.b2'],
    rule: 'A 500 response of `GET /health` has the type `internal_error` and the code `health_check_failed`.',
    reason: 'Only these values distinguish a failed health check from a failed agent.',
    observability: 'provoked',
  },
  'HEALTH-033': {
    level: 'may',
    section: '2.10',
    statements: ['2.10.3'],
    rule: '`timestamp` is within 60 s of the clock of the machine that runs the check.',
    reason:
      "A wrong clock puts events in the wrong order. The specification doesn't require the current time, so a difference is only reported.",
    observability: 'black-box',
  },
} as const satisfies Ledger;

/** The id of a requirement for health, e.g. `HEALTH-001`. */
export type HealthRequirementId = keyof typeof healthRequirements;
