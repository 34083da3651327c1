/** Replaces `node:http2` in the bundle of Fastify, which loads it also for a server of HTTP/1. */
export default {};
