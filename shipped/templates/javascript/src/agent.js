/**
 * Your agent goes here: replace the body of `replyTo`. The example is the support agent of a shop,
 * with one tool and without a model.
 *
 * @import { ChatMessage, ScenarioMetadata, UserProfile } from 'sandbox-kit'
 */

/**
 * @typedef {object} ToolUse A tool that the agent called, with its result.
 * @property {string} name
 * @property {Record<string, unknown>} arguments
 * @property {Record<string, unknown>} result
 *
 * @typedef {object} Reply
 * @property {string} content Text of the reply; a string even if the agent only called tools.
 * @property {ToolUse[]} toolUses All tool calls of this reply, in order.
 * @property {number} confidence From 0 to 1.
 *
 * @typedef {object} Context Facts about the conversation that its messages do not contain.
 * @property {UserProfile | undefined} profile The simulated user, if the service created one.
 * @property {ScenarioMetadata | undefined} metadata Any fields, for example `time_of_day`.
 */

/**
 * Replies to a conversation. `messages` is the whole conversation so far, so the sandbox need not
 * store it. The last message is usually the user's, but any order is legal, and `content` may be
 * empty (spec 2.7).
 *
 * @param {ChatMessage[]} messages
 * @param {Context} context
 * @returns {Promise<Reply>}
 */
export async function replyTo(messages, { profile }) {
  // With a model: send it `messages` and your tools, run the tools that it calls, and return its
  // text and these calls with their results. The service neither offers tools nor runs them.
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const orderId = /\b[A-Z]-\d{4}\b/.exec(question)?.[0];
  if (orderId === undefined) {
    const greeting = profile?.name ? `Hello ${profile.name}!` : 'Hello!';
    return { content: `${greeting} What is your order number?`, toolUses: [], confidence: 0.6 };
  }
  const result = lookUpOrder(orderId);
  return {
    content: result.found
      ? `Your ${result.item} is ${result.status}.`
      : `I can't find order ${orderId}. Please check the number.`,
    toolUses: [{ name: 'look_up_order', arguments: { order_id: orderId }, result }],
    confidence: 0.9,
  };
}

const orders = new Map([
  ['A-1001', { item: 'blue mug', status: 'on its way' }],
  ['A-1002', { item: 'teapot', status: 'being packed' }],
]);

/** @param {string} orderId */
function lookUpOrder(orderId) {
  const order = orders.get(orderId);
  return { found: order !== undefined, order_id: orderId, ...order };
}
