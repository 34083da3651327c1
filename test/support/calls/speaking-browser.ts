import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import type { Test } from 'tap';
import { loadClip } from './caller.ts';
import { decodeClip, encodeWav } from './clip-audio.ts';
import { withOwnBrowser } from '../pages/browser.ts';

/** Starts a browser whose microphone repeats a clip, with 3 s of silence in between. */
export async function withSpeakingBrowser(
  t: Test,
  clipId: string,
  flags: readonly string[] = [],
): Promise<Browser> {
  const directory = mkdtempSync(join(tmpdir(), 'microphone-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'speech.wav');
  writeFileSync(file, encodeWav(await decodeClip(await loadClip(clipId)), 3_000));
  return withOwnBrowser(t, [
    '--disable-background-networking',
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${file}`,
    '--autoplay-policy=no-user-gesture-required',
    '--allow-loopback-in-peer-connection',
    ...flags,
  ]);
}
