/**
 * The DTLS handshake of werift where answers take long. A flight without an answer is sent again after
 * half a second, and so it may be answered twice. werift, as the client, takes the second answer to
 * its first flight for the end of the connection: a busy machine, or a way of 250 ms, breaks it then.
 */
import type { RTCDtlsTransport } from 'werift';

interface Handshake {
  msg_type: number;
}

/** The part of a DTLS socket that is used; it is there once the handshake has started. */
interface SocketInside {
  dtls: { flight: number };
  onHandleHandshakes: (messages: Handshake[]) => Promise<void>;
}

/** `HelloVerifyRequest`, and the flight by which the client answers it (RFC 6347, 4.2.4). */
const helloVerifyRequest = 3;
const flightAfterIt = 3;

/** Beyond the last flight. */
const noFlight = 99;

/** Passes over what asks again for what was sent. */
export function keepSteady(transport: RTCDtlsTransport): void {
  const start = transport.start.bind(transport);
  transport.start = () => {
    const starting = start();
    const socket = socketOf(transport);
    if (socket) {
      const handle = socket.onHandleHandshakes;
      socket.onHandleHandshakes = async (messages) => {
        const isAnswered = socket.dtls.flight >= flightAfterIt;
        await handle(messages.filter((one) => !isAnswered || one.msg_type !== helloVerifyRequest));
      };
    }
    return starting;
  };
}

/**
 * Ends a handshake that is under way: one that nobody answers any more sends for half a minute, and
 * keeps the process up for so long.
 */
export function endHandshake(transport: RTCDtlsTransport): void {
  const socket = socketOf(transport);
  if (socket) socket.dtls.flight = noFlight;
}

function socketOf({ dtls }: RTCDtlsTransport): SocketInside | undefined {
  return dtls as unknown as SocketInside | undefined;
}
