import { error, reports } from './mutants.ts';
import {
  delay,
  errorResponse,
  respondInstead,
  editAccepted,
  editHealth,
  set,
  to,
  type Edit,
} from '../../engine/mutants/combinators.ts';
import {
  createVariantFactory,
  type Transform,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';

const variant = createVariantFactory('health');

const states: Variant[] = [
  variant('bare', 'Sends only the required fields.', reports('healthy', 200)),
  variant('degraded', 'Reports "degraded".', reports('degraded', 200)),
  variant('unhealthy', 'Reports "unhealthy" with an error.', reports('unhealthy', 503, { error })),
  variant('unhealthy-silent', 'Reports "unhealthy" without an error.', reports('unhealthy', 503)),
  variant(
    'unhealthy-details-object',
    'Sends `error.details` as an object.',
    reports('unhealthy', 503, { error: { message: 'No.', details: { database: 'down' } } }),
  ),
  variant(
    'check-failed',
    'Responds with 500 because the health check fails.',
    respondInstead(to('health'), () => errorResponse(500, 'health_check_failed')),
  ),
  variant('recovers', 'Reports "unhealthy" for the first two requests.', () => {
    let requests = 0;
    const unhealthy = reports('unhealthy', 503, { error })();
    return (request, forward, clock) =>
      request.endpoint === 'health' && requests++ < 2
        ? unhealthy(request, forward, clock)
        : forward(request);
  }),
  variant(
    'extra-fields',
    'Sends unknown fields at every level.',
    editHealth(
      set('/name', 'agent'),
      set('/dependencies/redis', 'up'),
      set('/metrics/requests', { total: 3 }),
    ),
  ),
  variant(
    'dependencies-empty',
    'Sends empty `dependencies` and `metrics`.',
    editHealth(set('/dependencies', {}), set('/metrics', {})),
  ),
  variant(
    'webrtc-status-other',
    'Sends another value for `webrtc_status`.',
    editHealth(set('/webrtc_status', 'idle')),
  ),
  variant(
    'uptime-zero',
    'Sends an uptime of 0 and an empty version.',
    editHealth(set('/uptime', 0), set('/version', '')),
  ),
  variant(
    'percentages-at-the-edge',
    'Sends percentages of 0 and 100.',
    editHealth(
      set('/metrics/error_rate', 0),
      set('/metrics/cpu_usage', 100),
      set('/metrics/response_time_avg', 0.5),
    ),
  ),
  variant('slow-but-in-time', 'Takes 1 s for each response.', delay(to('health'), 1_000), {
    clockFactor: 5,
  }),
];

/** Sends this time in every field that holds one. */
const sendsTime = (time: string): TransformFactory => {
  const places: [Edit, Edit, Edit] = [
    set('/timestamp', time),
    set('/created_at', time),
    set('/deleted_at', time),
  ];
  return () => {
    const [health, create, remove] = [
      editHealth(places[0])(),
      editAccepted('create', places[1])(),
      editAccepted('delete', places[2])(),
    ];
    const byEndpoint: Record<string, Transform> = { health, create, delete: remove };
    return (request, forward, clock) =>
      byEndpoint[request.endpoint ?? '']?.(request, forward, clock) ?? forward(request);
  };
};

/** Forms of ISO 8601, used for every time in the responses. */
const times: Variant[] = Object.entries({
  offset: '2026-11-20T10:30:00+01:00',
  'short-offset': '2026-11-20T10:30:00-05',
  'no-zone': '2026-11-20T09:30:00',
  nanoseconds: '2026-11-20T09:30:00.123456789Z',
  comma: '2026-11-20T09:30:00,5Z',
  basic: '20261120T093000Z',
  'week-date': '2026-W47-5T09:30:00Z',
  'ordinal-date': '2026-324T09:30:00Z',
  'no-seconds': '2026-11-20T09:30Z',
  'date-alone': '2026-11-20',
}).map(([name, time]) => ({
  id: `legal/time-${name}`,
  areas: ['health', 'users'],
  description: `Sends times such as ${time}.`,
  transform: sendsTime(time),
}));

/** Legal variants of `GET /health`, and of the times in all responses. */
export const healthVariants: readonly Variant[] = [...states, ...times];
