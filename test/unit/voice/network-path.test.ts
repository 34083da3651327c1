/** The model of a bad network: loss, jitter, and bandwidth are what they say, and come from the seed. */
import t from 'tap';
import type { CallNetwork } from '../../../src/contract/index.ts';
import { mean } from '../../../src/platform/mean.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { findPercentile } from '../../../src/platform/percentile.ts';
import {
  NetworkPath,
  PACKET_OVERHEAD_BYTES,
  QUEUE_MS_MAX,
  type PacketDelivery,
} from '../../../src/voice/line-impairment/network-path.ts';

/** Sends packets of 60 bytes every 20 ms. */
function deliver(conditions: CallNetwork, packets: number, seed = 'test'): PacketDelivery[] {
  const path = new NetworkPath(conditions, seededRandom(seed));
  return Array.from({ length: packets }, (_, nth) => path.deliver(nth * 20, 60));
}

const delaysOf = (deliveries: readonly PacketDelivery[]): number[] =>
  deliveries.flatMap((delivery) => ('delayMs' in delivery ? delivery.delayMs : []));

/** Returns the lengths of the runs of lost packets. */
function burstsOf(deliveries: readonly PacketDelivery[]): number[] {
  const bursts: number[] = [];
  let length = 0;
  for (const delivery of deliveries) {
    if ('lost' in delivery) length += 1;
    else if (length > 0) bursts.push(length);
    if (!('lost' in delivery)) length = 0;
  }
  return bursts;
}

void t.test('a perfect network delivers every packet immediately', (t) => {
  t.same(
    deliver({}, 100),
    Array.from({ length: 100 }, () => ({ delayMs: 0 })),
  );
  t.end();
});

void t.test('the share of lost packets, and the length of bursts, are as stated', (t) => {
  const packets = 20_000;
  for (const [loss, burst] of [
    [1, undefined],
    [5, undefined],
    [5, 4],
    [6, 6],
    [20, 3],
    [50, 1],
  ] as const) {
    const deliveries = deliver({ loss_pct: loss, ...(burst && { burst }) }, packets);
    const share = loss / 100;
    const meanBurst = burst ?? 1 / (1 - share);
    // Losses in a burst are not independent, so the share varies more.
    const deviation = Math.sqrt((share * (1 - share) * 2 * meanBurst) / packets);
    const lost = 1 - delaysOf(deliveries).length / packets;
    t.ok(Math.abs(lost - share) < 4 * deviation, `${loss}%: ${(lost * 100).toFixed(2)}% lost`);
    const bursts = burstsOf(deliveries);
    const burstDeviation = meanBurst / Math.sqrt(bursts.length);
    const measured = mean(bursts);
    t.ok(
      Math.abs(measured - meanBurst) < 4 * burstDeviation + 1e-9,
      `bursts of ${meanBurst.toFixed(2)}: ${measured.toFixed(2)}`,
    );
  }
  t.end();
});

void t.test('jitter is distributed evenly up to its bound', (t) => {
  const delaysMs = delaysOf(deliver({ jitter_ms: 80 }, 10_000));
  t.equal(delaysMs.length, 10_000);
  for (const percent of [0, 10, 50, 90, 100]) {
    const ms = findPercentile(delaysMs, percent) ?? NaN;
    t.ok(Math.abs(ms - percent * 0.8) < 2, `p${percent}: ${ms.toFixed(1)} ms`);
  }
  t.end();
});

void t.test('packets leave with the bandwidth, and wait in a bounded queue', (t) => {
  const bits = (60 + PACKET_OVERHEAD_BYTES) * 8;
  // Enough bandwidth: each packet takes only the time to send it.
  const fast = delaysOf(deliver({ bandwidth_kbps: 100 }, 50));
  t.same(new Set(fast.map((ms) => ms.toFixed(3))), new Set([(bits / 100).toFixed(3)]));
  // Half of what is needed: the queue fills, and then every second packet is dropped.
  const kbps = bits / 20 / 2;
  const slow = deliver({ bandwidth_kbps: kbps }, 1_000);
  const delaysMs = delaysOf(slow);
  t.ok(Math.max(...delaysMs) <= QUEUE_MS_MAX + bits / kbps, `${Math.max(...delaysMs)} ms`);
  t.ok(Math.max(...delaysMs) > QUEUE_MS_MAX);
  const throughput = (delaysMs.length * bits) / 20_000;
  t.ok(Math.abs(throughput - kbps) / kbps < 0.03, `${throughput.toFixed(1)} of ${kbps} kbit/s`);
  t.match(
    slow.find((delivery) => 'lost' in delivery),
    { lost: 'in the queue' },
  );
  t.end();
});

void t.test('the same seed gives the same result, and another seed another one', (t) => {
  const conditions = { loss_pct: 10, burst: 3, jitter_ms: 50, bandwidth_kbps: 45 };
  t.same(deliver(conditions, 500, 'one'), deliver(conditions, 500, 'one'));
  t.notSame(deliver(conditions, 500, 'one'), deliver(conditions, 500, 'two'));
  t.end();
});
