/** One use of a tool: what it was called with and what it gave back (spec 2.8). */
export interface ToolUse {
  name: string;
  arguments: Record<string, unknown>;
  result: Record<string, unknown>;
  /** Whether the tool did what it was asked for; false for an order that does not exist. */
  succeeded: boolean;
}

/** An order of the shop. */
export interface Order {
  item: string;
  /** Euros. */
  price: number;
  status: 'processing' | 'shipped' | 'delivered' | 'cancelled';
  /** What a customer wants to know about it next. */
  note: string;
}

/** All orders that the shop has, by order id. */
export const orders: ReadonlyMap<string, Order> = new Map<string, Order>([
  [
    'A-1001',
    { item: 'blue mug', price: 18.5, status: 'shipped', note: 'It arrives within two days.' },
  ],
  [
    'A-1002',
    { item: 'tea pot', price: 42, status: 'processing', note: 'It leaves our shop tomorrow.' },
  ],
  [
    'A-1003',
    { item: 'set of bowls', price: 36.9, status: 'delivered', note: 'A neighbour signed for it.' },
  ],
  [
    'A-1004',
    { item: 'milk jug', price: 15, status: 'cancelled', note: 'The money is on its way back.' },
  ],
]);

/** When the shop is open, in its local time. */
export const openingHours = {
  weekdays: { opens: '09:00', closes: '18:00' },
  saturday: { opens: '10:00', closes: '16:00' },
  sunday: 'closed',
} as const;

/** Looks an order up. The result says `found`, and the order's facts when it exists. */
export function lookUpOrder(orderId: string): ToolUse {
  const order = orders.get(orderId);
  return {
    name: 'look_up_order',
    arguments: { order_id: orderId },
    result: order
      ? { found: true, order_id: orderId, ...order }
      : { found: false, order_id: orderId },
    succeeded: order !== undefined,
  };
}

/**
 * Gives the money of an order back. The shop keeps no books: the same order can be refunded in
 * every conversation, always under the same refund id, so that conversations never meet.
 */
export function refundOrder(orderId: string, order: Order): ToolUse {
  const isRefundable = order.status !== 'cancelled';
  return {
    name: 'refund_order',
    arguments: { order_id: orderId, amount: order.price },
    result: isRefundable
      ? { refunded: true, refund_id: `R${orderId.slice(1)}`, amount: order.price }
      : { refunded: false, reason: 'already_cancelled' },
    succeeded: isRefundable,
  };
}

/** Tells the opening hours. */
export function tellOpeningHours(): ToolUse {
  return {
    name: 'opening_hours',
    arguments: {},
    result: { ...openingHours },
    succeeded: true,
  };
}
