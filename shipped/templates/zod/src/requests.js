/**
 * The requests of the service. What the interface forbids gets a 400 (spec 7); everything else is
 * accepted, because the service may add keys.
 */
import { z } from 'zod';
import { badRequest } from './errors.js';

const freeForm = z.record(z.string(), z.unknown());

/** Only `messages` is required (spec 2.7). Its content may be empty. */
export const chatRequest = z.looseObject({
  messages: z.array(
    z.looseObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }),
  ),
  user_id: z.string().optional(),
  session_id: z.string().optional(),
  metadata: freeForm.optional(),
});

const text = z.string().optional();

/** Only `user_id` is required (spec 2.9). Hyphens are not allowed, so a UUID is not a user id. */
export const userCreateRequest = z.looseObject({
  user_id: z.string().regex(/^[A-Za-z0-9_]{1,64}$/),
  metadata: freeForm.optional(),
  profile: z.looseObject({ name: text, email: text, tier: text, location: text }).optional(),
});

/**
 * Returns the request in a body.
 *
 * @template {z.ZodType} Schema
 * @param {Schema} schema
 * @param {unknown} body
 * @returns {z.infer<Schema>}
 */
export function parse(schema, body) {
  const { success, data, error } = schema.safeParse(body);
  if (!success) throw badRequest(z.prettifyError(error));
  return data;
}
