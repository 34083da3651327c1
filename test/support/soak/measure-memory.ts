/**
 * Measures the memory of a process from inside, when its parent asks: loaded with `node --expose-gc
 * --import`, also in threads. Collects garbage first, so that only what is still used counts.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** The memory that is used after a garbage collection, in bytes. */
export interface UsedMemory {
  mainHeap: number;
  /** The part of the main heap that is bytecode and machine code. */
  mainCode: number;
  threadHeaps: number;
  /** Buffers and other memory outside the heaps. */
  external: number;
}

const THREADS_REPLY_MS = 500;

const channel = new BroadcastChannel('measure-memory');
channel.unref();

/** Bytecode is in the trusted spaces, machine code in the code spaces. */
const CODE_SPACE = /^(code|trusted)_/;

function measure(): { heap: number; code: number; external: number } {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => CODE_SPACE.test(name))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
  return { heap: heapUsed, code, external };
}

if (isMainThread) {
  const replies: ReturnType<typeof measure>[] = [];
  channel.onmessage = (event) => {
    const { data } = event as { data: unknown };
    if (data instanceof Object) replies.push(data as ReturnType<typeof measure>);
  };
  process.on('message', (message) => {
    if (message !== 'measure memory') return;
    replies.length = 0;
    channel.postMessage('measure');
    const { heap, code, external } = measure();
    setTimeout(() => {
      const sum = (of: (reply: ReturnType<typeof measure>) => number): number =>
        replies.reduce((total, reply) => total + of(reply), 0);
      const used: UsedMemory = {
        mainHeap: heap,
        mainCode: code,
        threadHeaps: sum((reply) => reply.heap),
        external: external + sum((reply) => reply.external),
      };
      process.send?.(used);
    }, THREADS_REPLY_MS).unref();
  });
  process.channel?.unref();
} else {
  channel.onmessage = (event) => {
    if ((event as { data: unknown }).data === 'measure') channel.postMessage(measure());
  };
}
