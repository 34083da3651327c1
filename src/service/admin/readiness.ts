import type { FastifyReply } from 'fastify';

const RETRY_AFTER_SECONDS = 2;

/** Responds whether the service is ready: 200, or 503 with the reason. */
export function sendReadiness(reply: FastifyReply, reason: string | undefined): FastifyReply {
  if (reason === undefined) return reply.send({ ready: true });
  const retryAfter = String(RETRY_AFTER_SECONDS);
  return reply.code(503).header('retry-after', retryAfter).send({ ready: false, reason });
}
