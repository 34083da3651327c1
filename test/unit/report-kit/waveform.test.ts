import t from 'tap';
import { renderTimeline } from '../../../src/report-kit/waveform.ts';

/** Renders a call of 10 s in which the agent first speaks at one time and the user at another. */
const render = (agentMs: number, userMs: number): string =>
  renderTimeline(undefined, {
    durationMs: 10_000,
    levelMs: 100,
    user: [],
    agent: Array.from({ length: 100 }, (_, nth) => (nth * 100 >= agentMs ? 60 : 1)),
    turns: [{ turn: 1, startMs: userMs }],
  }).text;

void t.test('a waveform marks the greeting before the first turn', (t) => {
  t.equal(render(200, 3_000).match(/>greeting</g)?.length, 2, 'in the wide and the narrow chart');
  t.notMatch(render(3_500, 3_000), 'greeting', 'the agent responds to the first turn');
  t.notMatch(render(2_900, 3_000), 'greeting', 'the mark of the turn has no room for the word');
  t.notMatch(render(20_000, 3_000), 'greeting', 'the agent says nothing');
  t.end();
});
