import { isoTime } from '../../../src/platform/clock.ts';
import {
  delays,
  failure,
  instead,
  json,
  onAccepted,
  onHealth,
  set,
  to,
  type Edit,
} from '../../engine/mutants/combinators.ts';
import {
  variantsOf,
  type Transform,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';

const variant = variantsOf('health');

const finds = (status: string, http: number, more: object = {}): TransformFactory =>
  instead(to('health'), (_asked, clock) =>
    json(http, { status, timestamp: isoTime(clock.nowMs()), ...more }),
  );

const error = { message: 'The database does not answer.', details: 'It was asked twice.' };

const states: Variant[] = [
  variant('bare', 'Sends the required fields and nothing else.', finds('healthy', 200)),
  variant('degraded', 'Is degraded.', finds('degraded', 200)),
  variant('unhealthy', 'Is unhealthy, and says why.', finds('unhealthy', 503, { error })),
  variant('unhealthy-silent', 'Is unhealthy, and does not say why.', finds('unhealthy', 503)),
  variant(
    'unhealthy-details-object',
    'Gives the details of an error as an object.',
    finds('unhealthy', 503, { error: { message: 'No.', details: { database: 'down' } } }),
  ),
  variant(
    'check-failed',
    'Cannot tell how it is.',
    instead(to('health'), () => failure(500, 'health_check_failed')),
  ),
  variant('recovers', 'Is unhealthy at first.', () => {
    let asked = 0;
    const unhealthy = finds('unhealthy', 503, { error })();
    return (one, forward, clock) =>
      one.endpoint === 'health' && asked++ < 2 ? unhealthy(one, forward, clock) : forward(one);
  }),
  variant(
    'extra-fields',
    'Sends fields that nobody knows, everywhere.',
    onHealth(
      set('/name', 'agent'),
      set('/dependencies/redis', 'up'),
      set('/metrics/requests', { total: 3 }),
    ),
  ),
  variant(
    'dependencies-empty',
    'Has no dependencies.',
    onHealth(set('/dependencies', {}), set('/metrics', {})),
  ),
  variant(
    'webrtc-status-other',
    'Has another word for WebRTC.',
    onHealth(set('/webrtc_status', 'idle')),
  ),
  variant('uptime-zero', 'Has just started.', onHealth(set('/uptime', 0), set('/version', ''))),
  variant(
    'percentages-at-the-edge',
    'Is at both ends of its percentages.',
    onHealth(
      set('/metrics/error_rate', 0),
      set('/metrics/cpu_usage', 100),
      set('/metrics/response_time_avg', 0.5),
    ),
  ),
  variant('slow-but-in-time', 'Takes 1 s.', delays(to('health'), 1_000), { clockFactor: 5 }),
];

const timed = (time: string): TransformFactory => {
  const places: [Edit, Edit, Edit] = [
    set('/timestamp', time),
    set('/created_at', time),
    set('/deleted_at', time),
  ];
  return () => {
    const [health, create, remove] = [
      onHealth(places[0])(),
      onAccepted('create', places[1])(),
      onAccepted('delete', places[2])(),
    ];
    const byEndpoint: Record<string, Transform> = { health, create, delete: remove };
    return (asked, forward, clock) =>
      byEndpoint[asked.endpoint ?? '']?.(asked, forward, clock) ?? forward(asked);
  };
};

/** Every form of ISO 8601, in every place that has a time. */
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
  description: `Writes times like ${time}.`,
  transform: timed(time),
}));

/** Legal variants of `GET /health`, and of the times in all answers. */
export const healthVariants: readonly Variant[] = [...states, ...times];
