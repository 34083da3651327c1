/** Latencies of several calls are measured to 10 ms. Needs an idle machine. */
import t from 'tap';
import {
  assertPathLatency,
  assertResponseLatency,
} from '../../support/measurements/voice-latency.ts';

void t.test('a delay of 40 or 90 ms in each direction adds as much to the path latency', (t) =>
  assertPathLatency(t, [40, 90], { packets: 120, roundTrips: 20 }),
);

void t.test(
  'caller and agent measure the same response latency, with and without added delays',
  (t) => assertResponseLatency(t, [30, 100, 300], 10),
);
