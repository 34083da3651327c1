/**
 * JSON Schemas of the requests of the service. What the interface forbids gets a 400 (spec 7);
 * everything else is accepted, because the service may add keys.
 */
const text = { type: 'string' };

/** Only `messages` is required (spec 2.7). Its content may be empty. */
export const chatRequest = {
  type: 'object',
  required: ['messages'],
  properties: {
    messages: {
      type: 'array',
      items: {
        type: 'object',
        required: ['role', 'content'],
        properties: {
          role: { type: 'string', enum: ['system', 'user', 'assistant'] },
          content: text,
        },
      },
    },
    user_id: text,
    session_id: text,
    metadata: { type: 'object' },
  },
};

/** Only `user_id` is required (spec 2.9). Hyphens are not allowed, so a UUID is not a user id. */
export const userCreateRequest = {
  type: 'object',
  required: ['user_id'],
  properties: {
    user_id: { type: 'string', pattern: '^[A-Za-z0-9_]{1,64}$' },
    metadata: { type: 'object' },
    profile: {
      type: 'object',
      properties: { name: text, email: text, tier: text, location: text },
    },
  },
};
