import t from 'tap';
import { seededRandom } from '../../../src/platform/random.ts';
import { buildTurns } from '../../../src/service/turns/turns.ts';
import { makeStoredSpan } from '../../support/traces/stored-span.ts';
import { generateConversation, shuffle } from '../../support/traces/turn-shapes.ts';

void t.test('turns do not depend on the order in which spans arrive', (t) => {
  for (let round = 0; round < 300; round += 1) {
    const random = seededRandom(`order-${round}`);
    const { spans, turns: expected } = generateConversation(random);
    const kept = spans.filter(({ operation }) => operation !== '').map(makeStoredSpan);
    const inOrder = buildTurns(kept);
    for (let order = 0; order < 4; order += 1) {
      const turns = buildTurns(shuffle(kept, random));
      if (JSON.stringify(turns) !== JSON.stringify(inOrder)) t.fail(`round ${round}`);
    }
    // Without the ignored spans, steps can't be assigned to a wrapper that has ended.
    if (kept.length < spans.length) continue;
    const lines = inOrder.map(({ userInput, toolCalls, agentResponse }) =>
      [userInput, toolCalls.map(({ name }) => name).join(), agentResponse].join(' > '),
    );
    t.strictSame(lines, expected, `round ${round}`);
  }
  t.end();
});
