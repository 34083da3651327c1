/** A TCP proxy in front of a sandbox that passes on the end of each call late. */
import { connect } from 'node:net';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { withTcpServer } from '../network/tcp-server.ts';

const TEXT_FRAME = 0x81;
const MASKED = 0x80;
const SHORT_LENGTH_MAX = 125;

/** Starts the proxy, and stops it after the test. Returns the URL of the sandbox behind it. */
export async function withLateHangUps(t: Test, url: string, delayMs: number): Promise<string> {
  const { port, hostname: host } = new URL(url);
  const isOver = new AbortController();
  t.teardown(() => isOver.abort(new Error('the test is over')));
  const ownPort = await withTcpServer(t, (client) => {
    const upstream = connect({ port: Number(port), host });
    let passing = Promise.resolve();
    client.on('data', (bytes: Buffer) => {
      if (isEndOfCall(bytes)) {
        passing = systemClock.sleep(delayMs, isOver.signal).catch(() => undefined);
      }
      void passing.then(() => upstream.write(bytes));
    });
    // The caller may be gone before the sandbox learns that the call is over.
    client.on('close', () => void passing.then(() => upstream.destroy()));
    upstream.on('error', () => undefined).on('close', () => client.destroy());
    upstream.pipe(client);
  });
  return `http://127.0.0.1:${ownPort}`;
}

/** Returns whether bytes begin with the WebSocket frame of an `end_call`. */
function isEndOfCall(bytes: Buffer): boolean {
  const length = (bytes[1] ?? 0) - MASKED;
  if (bytes[0] !== TEXT_FRAME || length < 0 || length > SHORT_LENGTH_MAX) return false;
  const [mask, payload] = [bytes.subarray(2, 6), bytes.subarray(6, 6 + length)];
  const text = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return text.includes('"end_call"');
}
