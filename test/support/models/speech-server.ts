import type { ServerResponse } from 'node:http';
import type { Test } from 'tap';
import {
  failures,
  startScriptedServer,
  type Responder,
  type ScriptedServer,
} from './scripted-server.ts';

interface SpeechRequest {
  path: string | undefined;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

/** A server with the part of OpenAI's speech API that the synthesizer uses. */
export type SpeechServer = ScriptedServer<SpeechRequest>;

/** Starts a speech server on a free port, and stops it after the test. */
export const startSpeechServer = (t: Test): Promise<SpeechServer> =>
  startScriptedServer(t, ({ url: path, headers: { authorization } }, body) => ({
    path,
    authorization,
    body: JSON.parse(body.toString()) as Record<string, unknown>,
  }));

export interface WavFormat {
  rate: number;
  bits?: 8 | 16 | 24 | 32;
  channels?: number;
  /** Whether samples are floating point numbers; requires 32 bits. */
  isFloat?: boolean;
  /** Whether the length is unknown, as in the response of a server that streams. */
  isStreamed?: boolean;
}

/** Returns a WAV file: 0.5 s of silence, a tone of 440 Hz at 10% of full scale, 0.5 s of silence. */
export function createToneWav(toneMs: number, format: WavFormat): Buffer {
  const { rate, bits = 16, channels = 1, isFloat = false, isStreamed = false } = format;
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

export const speechResponses = {
  ...failures,
  wav:
    (file: Buffer): Responder<SpeechRequest> =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'audio/wav' }).end(file),
  /** Sends audio without end. */
  endless: (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'audio/wav' });
    const sendMore = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', sendMore);
    sendMore();
  },
};
