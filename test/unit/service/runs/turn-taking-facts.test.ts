/** How the report of a run says in a terminal how its calls took turns. */
import t from 'tap';
import type { RunTurnTaking, SimulationReport } from '../../../../src/contract/index.ts';
import { plainStyle } from '../../../../src/report-kit/terminal.ts';
import { buildReport } from '../../../../src/service/simulator/report/report.ts';
import { terminalReport } from '../../../../src/service/simulator/report/terminal.ts';

const report: SimulationReport = buildReport({
  scenarios: [],
  sessions: [],
  blockedBy: undefined,
  sandbox: 'http://127.0.0.1:1',
  seed: 's',
  hasKey: false,
  isTranscribed: false,
  kitVersion: '0',
  startedAtMs: 0,
  endedAtMs: 0,
});

const measured: RunTurnTaking = {
  calls: 8,
  response_ms: { p50: 640, p95: 910, max: 1_200 },
  yield_ms: { p50: 310, p95: 420 },
  interruptions: 6,
  yielded: 5,
  overlap_ms: 1_900,
  agent_interruptions: 2,
  false_endpoints: 1,
  missed_turns: 1,
  dead_air_ms: 4_100,
  gaps: 16,
  not_proven: 8,
};

/** Returns the lines about turn-taking. */
function linesOf(turnTaking: RunTurnTaking): string[] {
  const text = terminalReport(
    { ...report, turn_taking: turnTaking },
    { style: plainStyle, width: 80 },
  );
  return (text.split('\n\n').find((block) => block.startsWith('Turn-taking')) ?? '').split('\n');
}

void t.test('each property has a separate line', (t) => {
  t.same(linesOf(measured), [
    'Turn-taking in 8 calls:',
    '  Response latency           p50 640 ms, p95 910 ms, max 1.2 s',
    '  Agent yielded              5 of 6 interruptions, after p50 310 ms, p95 420 ms',
    '  Agent spoke over the user  2 times',
    '  False endpoints            1',
    '  Lines without a reply      1',
    "  Gaps in the agent's audio  16",
    '  Both spoke together        1.9 s',
    '  Dead air over 2 s          4.1 s in total',
    '  Not proven                 in 8 of 8 calls, because this machine was busy',
  ]);
  t.end();
});

void t.test('what did not happen has no line', (t) => {
  const quiet = {
    ...measured,
    interruptions: 0,
    overlap_ms: 0,
    agent_interruptions: 0,
    false_endpoints: 0,
    missed_turns: 0,
    dead_air_ms: 0,
    gaps: 0,
    not_proven: 0,
  };
  t.same(linesOf(quiet), [
    'Turn-taking in 8 calls:',
    '  Response latency  p50 640 ms, p95 910 ms, max 1.2 s',
  ]);
  t.end();
});
