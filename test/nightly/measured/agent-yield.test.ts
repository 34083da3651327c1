/** How soon the reference agent stops when a caller interrupts it. Needs an idle machine. */
import t from 'tap';
import { hasEnded, interruptGreeting } from '../../support/calls/turn-taking-caller.ts';

void t.test('the agent yields within the set time', async (t) => {
  const usual = await interruptGreeting(t, {});
  t.ok(usual.heardMs >= 100 && usual.heardMs <= 500, `200 ms: ${usual.heardMs} ms`);
  t.notOk(hasEnded(usual.call, usual.greeting));
  const slow = await interruptGreeting(t, { voice: { yieldMs: 800 } });
  t.ok(slow.heardMs >= 600, `800 ms: ${slow.heardMs} ms`);
});

void t.test('slow_yield: the agent yields later', async (t) => {
  const { heardMs } = await interruptGreeting(t, { fault: 'slow_yield' });
  t.ok(heardMs >= 600, `${heardMs} ms`);
});
