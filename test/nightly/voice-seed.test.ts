/** Two simulations with one seed send identical packets to the agent while the user speaks. */
import t, { type Test } from 'tap';
import type { Persona } from '../../src/contract/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { makeCallerScenario, simulateSession } from '../helpers/simulation.ts';

const persona: Persona = {
  ...{ id: 'p', name: 'P' },
  voice: {
    noise: { kind: 'street', snr_db: 20 },
    network: { loss_pct: 8, burst: 3, jitter_ms: 30 },
  },
};

/** Returns the packets of each line that the user says, without the silence between them. */
async function recordLines(t: Test, seed: string): Promise<string[][]> {
  const { agent } = await withAgent(t);
  const lines: string[][] = [];
  const voice = {
    onAudio: (
      _plan: unknown,
      { kit, startMs }: { kit: readonly Buffer[]; startMs: { kit?: number } },
      spoken: readonly { startMs: number; endMs: number }[],
    ) => {
      for (const { startMs: fromMs, endMs } of spoken) {
        const [from, to] = [fromMs, endMs].map((ms) => Math.round((ms - (startMs.kit ?? 0)) / 20));
        lines.push(kit.slice(from, to).map((packet) => packet.toString('base64')));
      }
    },
  };
  const scenario = makeCallerScenario('seeded', { persona });
  const { verdict } = await simulateSession(t, agent.url, scenario, { seed, voice });
  t.equal(verdict, 'passed');
  return lines;
}

void t.test('the same seed gives the same packets', async (t) => {
  const [first = [], second = [], other = []] = await Promise.all(
    ['one', 'one', 'two'].map((seed) => recordLines(t, seed)),
  );
  t.equal(first.length, 2);
  for (const [nth, line] of first.entries()) {
    // The recording counts frames, so a line may begin one frame earlier or later.
    const [a, b, c] = [line, second[nth] ?? [], other[nth] ?? []];
    const body = a.slice(2, -2).join();
    t.ok(a.length > 10 && b.join().includes(body), `line ${nth + 1}: ${a.length} packets`);
    t.notOk(c.join().includes(body), 'another seed gives other noise');
  }
});
