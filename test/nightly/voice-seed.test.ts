/**
 * Two simulations with one seed send identical packets to the agent while the user speaks, and give
 * the same report, except for what is measured.
 */
import t, { type Test } from 'tap';
import type { Persona, SimulationReport } from '../../src/contract/index.ts';
import type { RecordedCall } from '../../src/service/simulator/calls/build-recording.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { makeCallerScenario } from '../support/sessions/scenarios.ts';
import { omitTimes, simulateOn } from '../support/sessions/simulated-sessions.ts';

const persona: Persona = {
  id: 'p',
  name: 'P',
  voice: {
    noise: { kind: 'street', snr_db: 20 },
    network: { loss_pct: 8, burst: 3, jitter_ms: 30 },
  },
};

interface RecordedRun {
  /** The packets around each line: those of a busy process leave late, so its place is uncertain. */
  lines: string[][];
  /** Without measurements. */
  report: string;
}

/** How far a line can be from where its times say: a second of delay. */
const UNCERTAIN_PACKETS = 50;
const FRAME_MS = 20;
/** The speech of the shortest line. */
const LINE_PACKETS_MIN = 12;

async function record(t: Test, seed: string): Promise<RecordedRun> {
  const { agent } = await withReferenceAgent(t);
  const lines: string[][] = [];
  const voice = {
    onRecorded: (_plan: unknown, { audio: { user, startMs }, lines: spoken }: RecordedCall) => {
      for (const { startMs: fromMs, endMs } of spoken) {
        const [from = 0, to = 0] = [fromMs, endMs].map((ms) =>
          Math.round((ms - (startMs.user ?? 0)) / FRAME_MS),
        );
        const around = user.slice(Math.max(0, from - UNCERTAIN_PACKETS), to + UNCERTAIN_PACKETS);
        lines.push(around.map((packet) => packet.toString('base64')));
      }
    },
  };
  const scenario = makeCallerScenario('seeded', { persona });
  const report = await simulateOn(t, agent.url, scenario, { seed, voice });
  t.equal(report.verdict, 'passed');
  return { lines, report: omitMeasured(report).replaceAll(agent.url, 'URL') };
}

/** Returns a report without times, and without what depends on how busy the machine is. */
function omitMeasured({ turn_taking: _, ...report }: SimulationReport): string {
  const sessions = report.sessions.map(({ turn_taking: __, notes: ___, ...session }) => ({
    ...session,
    notes: [],
  }));
  return omitTimes({ ...report, sessions });
}

/** Returns the length of the longest sequence of packets that both lists contain. */
function findLongestRun(one: readonly string[], other: readonly string[]): number {
  let longest = 0;
  let before: number[] = [];
  for (const packet of one) {
    const lengths = other.map((each, nth) => (each === packet ? (before[nth - 1] ?? 0) + 1 : 0));
    longest = Math.max(longest, ...lengths);
    before = lengths;
  }
  return longest;
}

void t.test('the same seed gives the same packets and the same report', async (t) => {
  const runs = await Promise.all(['one', 'one', 'two'].map((seed) => record(t, seed)));
  const [first, second, other] = runs as [RecordedRun, RecordedRun, RecordedRun];
  t.equal(first.lines.length, 2);
  for (const [nth, packets] of first.lines.entries()) {
    const same = findLongestRun(packets, second.lines[nth] ?? []);
    t.ok(same >= LINE_PACKETS_MIN, `line ${nth + 1}: ${same} equal packets in a row`);
    const others = findLongestRun(packets, other.lines[nth] ?? []);
    t.equal(others, 0, 'another seed gives other noise');
  }
  t.equal(second.report, first.report);
  t.not(other.report, first.report);
});
