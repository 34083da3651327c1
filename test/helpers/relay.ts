/** A relay between the two ends of a call that holds every packet for a known time. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';

const ADDRESS = '127.0.0.1';
const candidate = /^(a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1) (\d+) /m;

/** What stands between two ends: each is told the relay's port in place of the other's. */
export interface Relay {
  /** The offer as the answering side is to see it. */
  offer: (sdp: string) => string;
  /** The answer as the offering side is to see it. */
  answer: (sdp: string) => string;
  /** How many packets went through. */
  passed: () => number;
}

/** A relay that ends with the test. `holdMs` is asked for each packet. */
export async function withRelay(t: Test, holdMs: () => number): Promise<Relay> {
  const [toOffering, toAnswering] = [await bound(t), await bound(t)];
  const ports = { offering: 0, answering: 0 };
  let passed = 0;
  const pass = (from: Socket, to: Socket, port: () => number): void => {
    from.on('message', (packet) => {
      passed += 1;
      const send = (): void => to.send(packet, port(), ADDRESS, () => undefined);
      const ms = holdMs();
      if (ms === 0) send();
      else void systemClock.sleep(ms).then(send);
    });
  };
  // What one end sends to its own socket leaves by the other's.
  pass(toAnswering, toOffering, () => ports.offering);
  pass(toOffering, toAnswering, () => ports.answering);
  const shown = (sdp: string, side: 'offering' | 'answering', socket: Socket): string => {
    ports[side] = Number(candidate.exec(sdp)?.[2]);
    return sdp.replace(candidate, `$1 ${socket.address().port} `);
  };
  return {
    offer: (sdp) => shown(sdp, 'offering', toAnswering),
    answer: (sdp) => shown(sdp, 'answering', toOffering),
    passed: () => passed,
  };
}

async function bound(t: Test): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, ADDRESS);
  await once(socket, 'listening');
  let isOpen = true;
  // What is still held when the test ends is not sent any more.
  const send = socket.send.bind(socket) as (...given: unknown[]) => void;
  socket.send = (...given: unknown[]) => {
    if (isOpen) send(...given);
  };
  t.teardown(() => {
    isOpen = false;
    socket.close();
  });
  return socket;
}
