import type { AudioPacket } from '../../src/voice/peer/index.ts';
import type { Paced } from '../../src/platform/pacer.ts';

/** What a call does with sound while it lasts: hears packets, and sends some when it is time. */
export interface Media extends Paced {
  hear(packet: AudioPacket): void;
  close(): void;
}

/** Sends one packet of the call; `timestamp` in ticks of 1/48000 s. */
export type SendPacket = (payload: Buffer, timestamp: number) => void;
