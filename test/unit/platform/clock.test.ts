import { once } from 'node:events';
import process from 'node:process';
import t from 'tap';
import { createScaledClock } from '../../../src/platform/clock.ts';

void t.test(
  'a sleep or deadline in the past ends immediately, and Node prints no warning',
  async (t) => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    t.teardown(() => process.off('warning', note));
    const clock = createScaledClock(2);
    await clock.sleep(-5);
    await once(clock.deadline(-5).signal, 'abort');
    t.same(warnings, []);
  },
);
