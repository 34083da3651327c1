/** The waveform of a call with its audio. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { until } from '../until.ts';

/** Asserts that the audio of the first call of a page plays, and that the line of the waveform follows. */
export async function assertPlays(t: Test, page: Page): Promise<void> {
  const readPosition = (): Promise<{ seconds: number; line: string | null }> =>
    page.evaluate(`(() => {
      const timeline = document.querySelector('.timeline');
      return { seconds: timeline.querySelector('audio').currentTime,
        line: timeline.querySelector('.playhead').getAttribute('transform') };
    })()`);
  // The sound of the browser is not needed, and its start may not be allowed.
  await page.evaluate(`(() => {
    const audio = document.querySelector('.timeline audio');
    audio.muted = true;
    audio.currentTime = 0;
    return audio.play();
  })()`);
  const before = await readPosition();
  let after = before;
  await until('the audio plays', async () => {
    after = await readPosition();
    return after.seconds > 0.5 && after.line !== before.line;
  });
  t.ok(after.seconds > before.seconds, `played up to ${after.seconds} s`);
}
