/** Peers that use libwebrtc, each in its own process. */
import { fork } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { PeerCommands } from './libwebrtc-process.ts';

/** Whether this machine has a network interface besides loopback, which libwebrtc doesn't use. */
export const HAS_EXTERNAL_INTERFACE: boolean = Object.values(networkInterfaces()).some(
  (addresses) => addresses?.some(({ internal, family }) => !internal && family === 'IPv4'),
);

/** The result of a command, or the event that the peer starts to answer. */
interface ProcessMessage {
  id: number;
  value?: unknown;
  error?: string;
  event?: 'answer';
}

/** The commands of a libwebrtc process as asynchronous functions. */
export type LibwebrtcPeer = {
  [Name in keyof PeerCommands]: (
    ...parameters: Parameters<PeerCommands[Name]>
  ) => Promise<Awaited<ReturnType<PeerCommands[Name]>>>;
} & {
  /** Kills the process, so that the peer becomes unreachable without closing the call. */
  close: () => void;
};

/** Starts a libwebrtc process, and kills it after the test. `onAnswer` is called when it starts to answer. */
export function startLibwebrtcPeer(t: Test, onAnswer?: () => void): LibwebrtcPeer {
  const child = fork(join(import.meta.dirname, 'libwebrtc-process.ts'), { stdio: 'inherit' });
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const close = (): void => {
    // The test has ended, or does not wait for these.
    pending.clear();
    child.kill('SIGKILL');
  };
  t.teardown(close);
  child.on('message', ({ id, value, error, event }: ProcessMessage) => {
    if (event === 'answer') onAnswer?.();
    const reply = pending.get(id);
    pending.delete(id);
    if (error === undefined) reply?.resolve(value);
    else reply?.reject(new Error(error));
  });
  child.on('exit', () => {
    for (const { reject } of pending.values()) reject(new Error('The libwebrtc process exited.'));
  });
  let lastId = 0;
  const createCommand =
    (name: keyof PeerCommands) =>
    (argument?: string): Promise<unknown> => {
      const reply = Promise.withResolvers<unknown>();
      pending.set((lastId += 1), reply);
      child.send({ id: lastId, name, argument });
      return reply.promise;
    };
  const names = [
    'createOffer',
    'createAnswer',
    'acceptAnswer',
    'addCandidate',
    'say',
    'countFrames',
    'takeTurns',
    'reportSpeech',
  ] as const;
  const commands = Object.fromEntries(names.map((name) => [name, createCommand(name)]));
  return { ...(commands as unknown as LibwebrtcPeer), close };
}
