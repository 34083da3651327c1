/** A tool call with its arguments and its result (spec 2.8). */
export interface ToolUse {
  name: string;
  arguments: Record<string, unknown>;
  result: Record<string, unknown>;
  /** Whether the tool did its job; false for an unknown order. */
  succeeded: boolean;
}

/** An order in the shop. */
export interface Order {
  item: string;
  /** Euros. */
  price: number;
  status: 'processing' | 'shipped' | 'delivered' | 'canceled';
  /** More information for the customer. */
  note: string;
}

/** All orders of the shop, by id. */
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
    { item: 'set of bowls', price: 36.9, status: 'delivered', note: 'A neighbor signed for it.' },
  ],
  [
    'A-1004',
    { item: 'milk jug', price: 15, status: 'canceled', note: 'The money is on its way back.' },
  ],
]);

/** The opening hours of the shop, in local time. */
export const openingHours = {
  weekdays: { opens: '09:00', closes: '18:00' },
  saturday: { opens: '10:00', closes: '16:00' },
  sunday: 'closed',
} as const;

/** Looks up an order. The result contains `found`, and the order if it exists. */
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
 * Refunds an order. Refunds are not stored, so that conversations can't affect each other: every
 * conversation can refund the same order and gets the same refund id.
 */
export function refundOrder(orderId: string, order: Order): ToolUse {
  const isRefundable = order.status !== 'canceled';
  return {
    name: 'refund_order',
    arguments: { order_id: orderId, amount: order.price },
    result: isRefundable
      ? { refunded: true, refund_id: `R${orderId.slice(1)}`, amount: order.price }
      : { refunded: false, reason: 'already_canceled' },
    succeeded: isRefundable,
  };
}

/** Returns the opening hours. */
export function tellOpeningHours(): ToolUse {
  return {
    name: 'opening_hours',
    arguments: {},
    result: { ...openingHours },
    succeeded: true,
  };
}
