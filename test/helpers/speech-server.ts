import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { until } from './until.ts';

/** A request that came in. */
export interface SpeechAsked {
  path: string | undefined;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

/** How a request is answered. */
export type SpeechBehaviour = (response: ServerResponse) => void;

/** A server that speaks as much of OpenAI's speech as a voice needs. */
export interface SpeechServer {
  baseUrl: string;
  asked: SpeechAsked[];
  /** Answers the next requests one after the other like this; the last stays. */
  behave(...behaviours: SpeechBehaviour[]): void;
  untilAsked(count: number): Promise<void>;
}

/** Starts one on a free port; it ends with the test. */
export async function speechServer(t: Test): Promise<SpeechServer> {
  const asked: SpeechAsked[] = [];
  let behaviours: SpeechBehaviour[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { url: path, headers } = request;
      const body = JSON.parse(text) as Record<string, unknown>;
      asked.push({ path, authorization: headers.authorization, body });
      const behave = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
      behave?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    behave: (...next) => (behaviours = next),
    untilAsked: (count) => until(`${count} requests`, () => asked.length >= count),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** How a WAV file is written. */
export interface WavForm {
  rate: number;
  bits?: 8 | 16 | 24 | 32;
  channels?: number;
  /** Whether samples are floating point; of 32 bits then. */
  isFloat?: boolean;
  /** As a server writes it that streams: the length of the sound is not known. */
  isStreamed?: boolean;
}

/** A WAV file with a tone of 440 Hz at a tenth of full scale, between half seconds of silence. */
export function toneWav(toneMs: number, form: WavForm): Buffer {
  const { rate, bits = 16, channels = 1, isFloat = false, isStreamed = false } = form;
  const bytes = bits / 8;
  const silentSamples = rate / 2;
  const toneSamples = Math.round((toneMs * rate) / 1_000);
  const data = Buffer.alloc((toneSamples + 2 * silentSamples) * channels * bytes);
  for (let nth = 0; nth < data.length / bytes; nth += 1) {
    const at = Math.floor(nth / channels) - silentSamples;
    const isTone = at >= 0 && at < toneSamples;
    const sample = isTone ? 0.1 * Math.sin((2 * Math.PI * 440 * at) / rate) : 0;
    if (isFloat) data.writeFloatLE(sample, nth * bytes);
    else if (bits === 8) data[nth] = Math.round(sample * 127) + 128;
    else data.writeIntLE(Math.round(sample * (2 ** (bits - 1) - 1)), nth * bytes, bytes);
  }
  const header = Buffer.alloc(44);
  header.write('RIFF\0\0\0\0WAVEfmt \x10\0\0\0', 'latin1');
  header.writeUInt32LE(isStreamed ? 0xffffffff : data.length + 36, 4);
  header.writeUInt16LE(isFloat ? 3 : 1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * bytes, 28);
  header.writeUInt16LE(channels * bytes, 32);
  header.writeUInt16LE(bits, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(isStreamed ? 0xffffffff : data.length, 40);
  return Buffer.concat([header, data]);
}

/** Ways to answer. */
export const speaks = {
  wav:
    (file: Buffer): SpeechBehaviour =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'audio/wav' }).end(file),
  status:
    (status: number, headers: Record<string, string> = {}): SpeechBehaviour =>
    (response) =>
      void response.writeHead(status, headers).end('{"error":{"message":"sk-secret"}}'),
  nothing: (): void => undefined,
  /** Sound without an end. */
  forEver: (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'audio/wav' });
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more);
    more();
  },
};
