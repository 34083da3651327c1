import type { IncomingMessage } from 'node:http';
import type { Test } from 'tap';
import { countPacketTicks, readOgg } from '../../../src/voice/opus/index.ts';
import {
  failures,
  startScriptedServer,
  type Responder,
  type ScriptedServer,
} from './scripted-server.ts';

/** A request to transcribe a file. */
interface TranscriptionRequest {
  path: string | undefined;
  authorization: string | undefined;
  model: FormDataEntryValue | null;
  fileName: string;
  fileType: string;
  /** The duration of the audio. */
  ms: number;
}

type FormDataEntryValue = ReturnType<FormData['get']> extends infer Entry | null ? Entry : never;

/** A server with the part of OpenAI's transcription API that the simulator uses. */
export type TranscriptionServer = ScriptedServer<TranscriptionRequest>;

/** Starts a transcription server on a free port, and stops it after the test. */
export const startTranscriptionServer = (t: Test): Promise<TranscriptionServer> =>
  startScriptedServer(t, readForm);

async function readForm(request: IncomingMessage, bytes: Buffer): Promise<TranscriptionRequest> {
  const { url: path, headers } = request;
  const contentType = headers['content-type'] ?? '';
  const body = new Response(bytes, { headers: { 'content-type': contentType } });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- The kit sends small forms.
  const form = await body.formData();
  const file = form.get('file');
  if (!(file instanceof File)) throw new Error('The request has no file.');
  const packets = readOgg(Buffer.from(await file.arrayBuffer()));
  return {
    path,
    authorization: headers.authorization,
    model: form.get('model'),
    fileName: file.name,
    fileType: file.type,
    ms: packets.reduce((sum, packet) => sum + (countPacketTicks(packet) ?? 0), 0) / 48,
  };
}

export const transcriptionResponses = {
  ...failures,
  text: (text: string) => transcriptionResponses.body(JSON.stringify({ text })),
  body:
    (body: string): Responder<TranscriptionRequest> =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
};
