/** Ends of a call that are not ours, each in a process of its own. */
import { fork } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { EndAsks } from './libwebrtc-end.ts';

/** libwebrtc takes no loopback address as its own; where there is no other it can't call. */
export const HAS_INTERFACE: boolean = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ internal, family }) => !internal && family === 'IPv4'),
);

/** One end of a call; all that can be asked of it is answered later. */
export type LibwebrtcEnd = {
  [Name in keyof EndAsks]: (
    ...given: Parameters<EndAsks[Name]>
  ) => Promise<Awaited<ReturnType<EndAsks[Name]>>>;
} & {
  /** Is not there any more, from one moment to the next. */
  close: () => void;
};

/** An end that ends with the test. */
export function libwebrtcEnd(t: Test): LibwebrtcEnd {
  const child = fork(join(import.meta.dirname, 'libwebrtc-end.ts'), { stdio: 'inherit' });
  const close = (): void => void child.kill('SIGKILL');
  t.teardown(close);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('libwebrtc has ended'));
  });
  let asked = 0;
  const ask =
    (name: keyof EndAsks) =>
    (given?: string): Promise<unknown> => {
      const asking = Promise.withResolvers<unknown>();
      waiting.set((asked += 1), asking);
      child.send({ id: asked, name, given });
      return asking.promise;
    };
  const names = ['offer', 'answer', 'accept', 'addCandidate', 'say', 'heard'] as const;
  const asks = Object.fromEntries(names.map((name) => [name, ask(name)]));
  return { ...(asks as unknown as LibwebrtcEnd), close };
}
