import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../requests/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Pages } from '../frame/pages.ts';
import { RECORDING_PATH } from './call-player.ts';

/** Adds the audio of simulated calls. Players seek with ranges of bytes (RFC 9110, section 14). */
export function addRecordingRoute(
  { app, findReader }: Pages,
  { recordings }: Pick<Store, 'recordings'>,
): void {
  app.get<{ Params: { id: string } }>(`${RECORDING_PATH}/:id`, async (request, reply) => {
    const { listOwners } = await findReader(request);
    for (const ownerId of await listOwners()) {
      const audio = await recordings.readAudio(ownerId, request.params.id);
      if (audio) return sendAudio(request, reply, audio);
    }
    throw new RequestError('not_found', 'There is no recording of this session.');
  });
}

function sendAudio({ headers }: FastifyRequest, reply: FastifyReply, audio: Buffer): FastifyReply {
  reply.headers({
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
    'content-type': 'audio/ogg',
    'x-content-type-options': 'nosniff',
  });
  const range = parseRange(headers.range, audio.length);
  if (range === undefined) return reply.send(audio);
  if (range === 'unsatisfiable') {
    return reply.code(416).header('content-range', `bytes */${audio.length}`).send();
  }
  const [first, last] = range;
  return reply
    .code(206)
    .header('content-range', `bytes ${first}-${last}/${audio.length}`)
    .send(audio.subarray(first, last + 1));
}

/** Returns the first and last byte of a single range; undefined to send everything. */
function parseRange(
  header: string | undefined,
  length: number,
): [first: number, last: number] | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const count = Math.min(Number(to), length);
    return count === 0 ? 'unsatisfiable' : [length - count, length - 1];
  }
  const [first, last] = [Number(from), to === '' ? length - 1 : Math.min(Number(to), length - 1)];
  if (to !== '' && Number(to) < first) return undefined;
  return first < length ? [first, last] : 'unsatisfiable';
}
