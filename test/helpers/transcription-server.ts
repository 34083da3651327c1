import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { countPacketTicks, readOgg } from '../../src/voice/opus/index.ts';
import { startLocally } from './local-server.ts';

/** A request to transcribe a file. */
export interface TranscriptionRequest {
  path: string | undefined;
  authorization: string | undefined;
  model: FormDataEntryValue | null;
  fileName: string;
  fileType: string;
  /** The duration of the audio. */
  ms: number;
}

type FormDataEntryValue = ReturnType<FormData['get']> extends infer Entry | null ? Entry : never;

/** Responds to one request. */
export type TranscriptionResponder = (
  response: ServerResponse,
  request: TranscriptionRequest,
) => void;

/** A server with the part of OpenAI's transcription API that the simulator uses. */
export interface TranscriptionServer {
  baseUrl: string;
  requests: TranscriptionRequest[];
  /** The most requests that it had at the same time. */
  concurrentMax: () => number;
  /** Sets the responders of the next requests, in order. The last one also serves all later requests. */
  respondWith(...responders: TranscriptionResponder[]): void;
}

/** Starts a transcription server on a free port, and stops it after the test. */
export async function startTranscriptionServer(t: Test): Promise<TranscriptionServer> {
  const requests: TranscriptionRequest[] = [];
  let responders: TranscriptionResponder[] = [];
  let [open, openMax] = [0, 0];
  const server = createServer((request, response) => {
    open += 1;
    openMax = Math.max(openMax, open);
    response.on('close', () => (open -= 1));
    void readForm(request).then((received) => {
      requests.push(received);
      const respond = responders.length > 1 ? responders.shift() : responders[0];
      respond?.(response, received);
    });
  });
  const url = await startLocally(t, server);
  return {
    baseUrl: `${url}/v1`,
    requests,
    concurrentMax: () => openMax,
    respondWith: (...next) => (responders = next),
  };
}

async function readForm(request: IncomingMessage): Promise<TranscriptionRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { url: path, headers } = request;
  const contentType = headers['content-type'] ?? '';
  const body = new Response(Buffer.concat(parts), { headers: { 'content-type': contentType } });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- The kit sends small forms.
  const form = await body.formData();
  const file = form.get('file');
  if (!(file instanceof File)) throw new Error('The request has no file.');
  const packets = readOgg(Buffer.from(await file.arrayBuffer()));
  return {
    path,
    authorization: headers.authorization,
    model: form.get('model'),
    ...{ fileName: file.name, fileType: file.type },
    ms: packets.reduce((sum, packet) => sum + (countPacketTicks(packet) ?? 0), 0) / 48,
  };
}

export const transcriptionResponses = {
  text:
    (text: string): TranscriptionResponder =>
    (response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ text })),
  body:
    (body: string): TranscriptionResponder =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
  status:
    (status: number, headers: Record<string, string> = {}): TranscriptionResponder =>
    (response) =>
      void response.writeHead(status, headers).end('{"error":{"message":"sk-secret"}}'),
  none: (): void => undefined,
};
