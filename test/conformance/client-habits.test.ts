/** Unusual clients of the service that the judgment must not blame. */
import t from 'tap';
import { createSeedDocument } from '../../conformance/proof/client/client-runs.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import {
  end,
  endChunked,
  read,
  readUntilEmpty,
  sendSpans,
} from '../support/conformance/client-requests.ts';
import { judgeRun, type ClientSetup, type Target } from '../support/conformance/judged-client.ts';
import { seedRun } from '../support/sessions/seeded-run.ts';
import { makeSpan } from '../support/traces/otlp.ts';

const seed = createSeedDocument(systemClock.nowMs());

/** More production sessions than a page has; the newest one is the conversation of the client. */
const productionSeed = {
  runs: [
    seedRun(
      'Nightly',
      Array.from({ length: 60 }, (_, index) => ({
        id: `conv-${index + 1}`,
        outcome: 'pass' as const,
        startedAt: isoTime(Date.UTC(2026, 10, 20) - index * 60_000),
      })),
    ),
  ],
};

interface LegalClient {
  run: (target: Target) => Promise<unknown>;
  setup?: ClientSetup;
}

/** Unusual clients that break no rule. */
const legalClients: Readonly<Record<string, LegalClient>> = {
  'a reader that adds its limit to skip until a page is empty': {
    run: (target) => readUntilEmpty(target, 25),
    setup: { seed },
  },
  'a reader that asks for the total, and reads from the last page to the first': {
    run: async (target) => {
      const page = await read(target, '/api/simulations/sessions/?limit=1');
      const { total } = (await page.json()) as { total: number };
      for (let skip = total - (total % 25 || 25); skip >= 0; skip -= 25) {
        await read(target, `/api/simulations/sessions/?limit=25&skip=${skip}`);
      }
    },
    setup: { seed },
  },
  'a reader of the ten newest sessions': {
    run: (target) => read(target, '/api/simulations/sessions/?limit=10'),
    setup: { seed },
  },
  'a poll of the newest page until its own conversation appears': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await end(target);
      for (let isFound = false; !isFound;) {
        const page = await read(target, '/api/prod-evaluations/sessions/?limit=50');
        isFound = (await page.text()).includes('"conv-1"');
      }
    },
    setup: { seed: productionSeed },
  },
  'an end call that is repeated until the spans have arrived': {
    run: async (target) => {
      await end(target);
      await sendSpans(target, makeSpan());
      await end(target);
    },
  },
  'an end call with an empty chunked body': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await endChunked(target);
    },
  },
};

for (const [name, { run, setup }] of Object.entries(legalClients)) {
  void t.test(`a legal client: ${name}`, async (t) => {
    const { failed, warned } = await judgeRun(t, (target) => run(target), setup);
    t.same([failed, warned], [[], []]);
  });
}

void t.test('spans above the rate that are sent again cause no warning', async (t) => {
  const { warned } = await judgeRun(t, async (target) => {
    for (let count = 0; count <= 120; count += 1) {
      const span = makeSpan();
      const { status } = await sendSpans(target, span);
      if (status !== 429) continue;
      await fetch(`${target.adminUrl}/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ advance_ms: 60_000 }),
      });
      await sendSpans(target, span);
    }
    await end(target);
  });
  t.same(warned, []);
});
