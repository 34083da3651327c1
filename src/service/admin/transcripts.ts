import type { FastifyInstance } from 'fastify';
import { storeTranscript, type TranscriptOptions } from '../operations/transcripts.ts';
import { parseMessage } from '../requests/document-checks.ts';
import type { RequestOwners } from './request-owners.ts';

/** `POST /transcripts`: stores a finished conversation and queues its evals. */
export function addTranscriptRoutes(
  app: FastifyInstance,
  options: TranscriptOptions & { owners: RequestOwners },
): void {
  app.post('/transcripts', async (request) => {
    const upload = parseMessage('TranscriptUpload', request.body);
    return storeTranscript(options, await options.owners.findOrCreate(request), upload);
  });
}
