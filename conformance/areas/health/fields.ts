/** The fields of a health report (spec 2.10). */
import { isObject } from '../../../src/platform/json.ts';
import { type Check, checkEach, unjudgedAs } from '../../engine/checks/check.ts';
import { checkTypicalValue } from '../../engine/checks/typical-value.ts';
import { drop, type Edit, set } from '../../engine/mutants/combinators.ts';
import { editHealth } from '../sandbox-responses.ts';
import type { DistortionEntry, Subject } from '../../engine/requirement.ts';
import { fieldNames } from '../field-names.ts';
import { fieldsOf, missing } from '../fields.ts';
import { hintForTime } from '../value-hints.ts';
import {
  error,
  hasStatus,
  isHealthReport,
  noReport,
  noReportHasField,
  reports,
  STATUS_REASON,
} from './reports.ts';
import { countNanoseconds, requireSeconds } from './uptime.ts';

const field = fieldsOf({
  endpoint: 'health',
  message: 'Health',
  noun: 'health response',
  reason:
    "The service expects this type before each simulation; it drops another value or doesn't start the simulation.",
  probes: ['preflight'],
  filter: isHealthReport,
  unjudged: noReportHasField,
  editResponses: editHealth,
});

const sends = (description: string, ...edits: Edit[]): DistortionEntry => ({
  description,
  transform: editHealth(...edits),
});

const dependencyUp = (name: string): DistortionEntry =>
  sends(`Sends "up" for the dependency ${name}.`, set(`/dependencies/${name}`, 'up'));
const percentage = (name: string, value: unknown): DistortionEntry =>
  sends(`Sends ${name} as ${JSON.stringify(value)}.`, set(`/metrics/${name}`, value));
const reportsError = (description: string, reported: unknown): DistortionEntry =>
  reports(description, 'unhealthy', 503, { error: reported });

export const fields: Subject = {
  requirements: {
    'HEALTH-010': field('/status', {
      rule: '`status` is `healthy`, `degraded`, or `unhealthy`.',
      statements: ['2.10.1', '2.10.2', '7.b10'],
      reason: STATUS_REASON,
      wrong: {
        'status-missing': ['Omits `status`.', missing, drop('/error')],
        'status-ok': ['Sends the status "ok".', 'ok', drop('/error')],
        'status-up': ['Sends the status "UP".', 'UP', drop('/error')],
        'status-capital': ['Sends the status "Healthy", capitalized.', 'Healthy', drop('/error')],
        'status-true': ['Sends `status` as a boolean.', true, drop('/error')],
      },
    }),
    'HEALTH-011': field('/timestamp', {
      rule: '`timestamp` is an ISO 8601 string.',
      statements: ['2.10.3', '7.b10'],
      hint: hintForTime,
      wrong: {
        'timestamp-missing': ['Omits `timestamp`.', missing],
        'timestamp-unix': ['Sends `timestamp` as Unix time.', 1_795_167_000],
        'timestamp-digits': ['Sends `timestamp` as Unix time in a string.', '1795167000'],
        'timestamp-http-date': [
          'Sends `timestamp` as an HTTP date.',
          'Fri, 20 Nov 2026 09:30:00 GMT',
        ],
        'timestamp-space': [
          'Sends `timestamp` with a space between date and time.',
          '2026-11-20 09:30:00',
        ],
      },
    }),
    'HEALTH-012': field('/version', {
      rule: '`version` is a string, if present.',
      statements: ['2.10.4', '2.10.5'],
      wrong: {
        'version-a-number': ['Sends `version` as a number.', 1.4],
        'version-null': ['Sends `version` as null.', null],
      },
    }),
    'HEALTH-013': field('/uptime', {
      rule: '`uptime` is an integer number of seconds, if present.',
      statements: ['2.10.7', '2.10.8'],
      hint: (received) =>
        typeof received === 'number'
          ? 'Round it to whole seconds.'
          : 'Send a whole number of seconds, without quotes or a unit.',
      wrapCheck: requireSeconds,
      wrong: {
        'uptime-a-string': ['Sends `uptime` in words.', '3 days'],
        'uptime-fraction': ['Sends `uptime` with a fraction.', 17.25],
      },
      mutants: {
        'uptime-nanoseconds': {
          description: 'Sends `uptime` in nanoseconds.',
          transform: countNanoseconds,
          // The unit shows only if some time passes between the health requests.
          areas: ['chat', 'health'],
        },
      },
      legal: {
        'uptime-zero': sends(
          'Sends an uptime of 0 and an empty version.',
          set('/uptime', 0),
          set('/version', ''),
        ),
      },
    }),
    'HEALTH-014': field('/webrtc_status', {
      rule: '`webrtc_status` is a string, if present.',
      statements: ['2.10.9', '2.10.10'],
      wrong: { 'webrtc-status-a-boolean': ['Sends `webrtc_status` as a boolean.', true] },
    }),
    'HEALTH-015': {
      level: 'may',
      rule: '`webrtc_status` is typically `operational`.',
      statements: ['2.10.11'],
      reason:
        'The specification shows only this value and requires none, so other values are only reported.',
      check: checkTypicalValue(isHealthReport, '/webrtc_status', 'operational', noReportHasField),
      legal: {
        'webrtc-status-other': sends(
          'Sends another value for `webrtc_status`.',
          set('/webrtc_status', 'idle'),
        ),
      },
    },
    'HEALTH-016': field('/dependencies', {
      rule: '`dependencies` is an object, if present.',
      statements: ['2.10.12', '2.10.13'],
      wrong: {
        'dependencies-a-list': ['Sends `dependencies` as an array.', ['database']],
        'dependencies-null': ['Sends `dependencies` as null.', null],
      },
    }),
    'HEALTH-017': field(
      ['/dependencies/database', '/dependencies/llm_service', '/dependencies/external_apis'],
      {
        rule: '`database`, `llm_service`, and `external_apis` in `dependencies` are `healthy` or `unhealthy`, if present.',
        statements: ['2.10.14'],
        wrong: {
          'dependency-an-object': [
            'Sends the status of a dependency as an object.',
            { status: 'healthy' },
          ],
        },
        mutants: {
          'database-up': dependencyUp('database'),
          'llm-service-up': dependencyUp('llm_service'),
          'external-apis-up': dependencyUp('external_apis'),
        },
      },
    ),
    'HEALTH-018': field('/metrics', {
      rule: '`metrics` is an object, if present.',
      statements: ['2.10.15', '2.10.16'],
      wrong: {
        'metrics-null': ['Sends `metrics` as null.', null],
        'metrics-a-list': ['Sends `metrics` as an array.', []],
      },
    }),
    'HEALTH-019': field('/metrics/response_time_avg', {
      rule: '`metrics.response_time_avg` is a number, if present.',
      statements: ['2.10.17'],
      wrong: {
        'response-time-a-string': ['Sends `response_time_avg` with its unit.', '250 ms'],
      },
    }),
    'HEALTH-020': field(['/metrics/error_rate', '/metrics/memory_usage', '/metrics/cpu_usage'], {
      rule: '`error_rate`, `memory_usage`, and `cpu_usage` in `metrics` are numbers from 0 to 100, if present.',
      statements: ['2.10.18'],
      reason:
        "The service reads them as percentages; bytes, units, or negative numbers can't be read that way.",
      mutants: {
        'error-rate-negative': percentage('error_rate', -1),
        'memory-usage-in-bytes': percentage('memory_usage', 512_000_000),
        'cpu-usage-with-a-sign': percentage('cpu_usage', '12 %'),
      },
      legal: {
        'percentages-at-the-edge': sends(
          'Sends percentages of 0 and 100.',
          set('/metrics/error_rate', 0),
          set('/metrics/cpu_usage', 100),
          set('/metrics/response_time_avg', 0.5),
        ),
      },
    }),
    'HEALTH-021': field('/error', {
      rule: '`error` is an object, and is present only when `status` is `unhealthy`.',
      statements: ['2.10.19'],
      reason:
        "With an error next to a healthy status, the service can't tell which of the two is true.",
      // Every health report is evidence: it has an `error` that must be legal, or has none.
      wrapCheck: (check) => ({
        ...check,
        evidence: ({ exchanges }) => exchanges.filter(isHealthReport),
        unjudged: noReport,
      }),
      wrong: {
        'error-when-healthy': [
          'Sends `error` with the status "healthy".',
          error,
          set('/status', 'healthy'),
        ],
        'error-null-when-healthy': [
          'Sends `error` as null with the status "healthy".',
          null,
          set('/status', 'healthy'),
        ],
      },
      mutants: {
        'error-a-string': reportsError('Sends `error` as a string.', error.message),
      },
    }),
    'HEALTH-022': field(['/error/message', '/error/details'], {
      rule: '`error` of an unhealthy response has `message` and `details`.',
      statements: ['2.10.20'],
      reason: "Without them, the customer doesn't learn why a simulation can't start.",
      observability: 'provoked',
      // A healthy sandbox has no error.
      probes: [],
      wrapCheck: (check) => ({
        ...check,
        unjudged: unjudgedAs('not_observed', 'No unhealthy response had an error.'),
      }),
      mutants: {
        'error-without-details': reportsError('Omits `error.details`.', {
          message: error.message,
        }),
        'error-without-message': reportsError('Omits `error.message`.', {
          details: error.details,
        }),
      },
      legal: {
        'unhealthy-details-object': reportsError('Sends `error.details` as an object.', {
          message: 'No.',
          details: { database: 'down' },
        }),
      },
    }),
    'HEALTH-023': {
      level: 'may',
      rule: 'An unhealthy response has an `error`.',
      statements: ['2.10.19'],
      reason: "The specification doesn't clearly require it, so its absence is only reported.",
      observability: 'provoked',
      check: checkErrorPresence(),
      legal: {
        'unhealthy-silent': reports('Reports "unhealthy" without an error.', 'unhealthy', 503),
      },
    },
    'HEALTH-024': fieldNames({
      rule: 'The optional fields of a health response have the names of the specification, such as `webrtc_status`.',
      statements: ['2.10.9', '2.10.16'],
      probes: ['preflight'],
      isResponse: isHealthReport,
      unjudged: noReport,
      mutants: {
        'webrtc-status-camel-case': sends(
          'Sends `webrtcStatus`.',
          drop('/webrtc_status'),
          set('/webrtcStatus', 'operational'),
        ),
      },
    }),
  },
  legal: {
    bare: reports('Sends only the required fields.', 'healthy', 200),
    'extra-fields': sends(
      'Sends unknown fields at every level.',
      set('/name', 'agent'),
      set('/dependencies/redis', 'up'),
      set('/metrics/requests', { total: 3 }),
    ),
    'dependencies-empty': sends(
      'Sends empty `dependencies` and `metrics`.',
      set('/dependencies', {}),
      set('/metrics', {}),
    ),
  },
};

function checkErrorPresence(): Check {
  return checkEach(
    (exchange) => isHealthReport(exchange) && hasStatus(exchange, 'unhealthy'),
    (exchange) =>
      isObject(exchange.json) && exchange.json['error'] === undefined
        ? [{ exchange: exchange.id, pointer: '/error', expected: 'an error', received: 'no error' }]
        : [],
    unjudgedAs('not_observed', 'The sandbox was never unhealthy.'),
  );
}
