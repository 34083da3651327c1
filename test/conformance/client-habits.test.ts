/** Unusual clients of the service that the judgment must not blame. */
import t from 'tap';
import { end, endChunked, sendSpans } from '../support/conformance/client-requests.ts';
import { judgeRun, type ClientSetup, type Target } from '../support/conformance/judged-client.ts';
import { makeSpan } from '../support/traces/otlp.ts';

interface LegalClient {
  run: (target: Target) => Promise<unknown>;
  setup?: ClientSetup;
}

/** Unusual clients that break no rule. */
const legalClients: Readonly<Record<string, LegalClient>> = {
  'turns of the same time and text in different traces': {
    run: async (target) => {
      for (let count = 0; count < 3; count += 1) await sendSpans(target, makeSpan());
      await end(target);
    },
  },
  'spans whose parent has only zeros': {
    run: async (target) => {
      await sendSpans(target, makeSpan({ parentSpanId: '0'.repeat(16) }));
      await end(target);
    },
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
