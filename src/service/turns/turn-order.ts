/**
 * The order of turns and model calls. Start times decide it, except where they are too close to tell:
 * many SDKs have clocks of a millisecond, and the clocks of hosts differ. There, a call follows the one
 * whose messages its input repeats.
 */
import type { StoredSpan } from '../store/records.ts';
import { findLastUserIndex, isToolResponse, type Message } from './messages.ts';
import type { Step } from './turn-parts.ts';

/** Clocks of hosts differ by less than this, so a history can contradict start times that are closer. */
const CLOCK_ERROR_NS_MAX = 1_000_000_000n;

/**
 * Compares by start, then by duration in whole milliseconds. SDKs that round the start down to a
 * millisecond compute the end from it, so a smaller difference between ends means nothing. Sorting is
 * stable: spans that are equal here stay in the order they arrived.
 */
export function compareTimes(a: StoredSpan, b: StoredSpan): number {
  return (
    Number(a.startNs - b.startNs) || toWholeMs(a.endNs - a.startNs) - toWholeMs(b.endNs - b.startNs)
  );
}

/** Returns nanoseconds as milliseconds, without the fraction. */
export const toWholeMs = (ns: bigint): number => Number(ns / 1_000_000n);

/** Something to order: a model call, or a top-level span with its model calls. */
export interface Orderable {
  startNs: bigint;
  /** Its model calls in order; the first may be a wrapper, which repeats what they contain. */
  steps: readonly Step[];
}

/** Returns items that are sorted by `compareTimes` in the order that their histories show. */
export function orderByHistory<Item extends Orderable>(items: readonly Item[]): Item[] {
  const ordered: Item[][] = [];
  let first = 0;
  for (const [index, { startNs }] of items.entries()) {
    const next = items[index + 1];
    if (next && next.startNs - startNs <= CLOCK_ERROR_NS_MAX) continue;
    const close = items.slice(first, index + 1);
    ordered.push(close.length > 1 ? orderClose(close) : close);
    first = index + 1;
  }
  return ordered.flat();
}

/** Orders items that start so close together that their histories may contradict the clocks. */
function orderClose<Item extends Orderable>(items: readonly Item[]): Item[] {
  const index = new HistoryIndex(items);
  const opened = new Set<Item>();
  const placed = new Set<Item>();
  for (const item of items) {
    // Depth first without recursion, because a conversation can have many turns.
    const stack = [item];
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const isNew = !opened.has(top);
      opened.add(top);
      // Earlier items that are already open form a cycle: their histories contradict each other.
      const earlier = isNew ? index.findEarlier(top).filter((each) => !opened.has(each)) : [];
      if (earlier.length > 0) stack.push(...earlier);
      else placed.add(stack.pop() ?? top);
    }
  }
  return [...placed];
}

/** An item with its messages as sequences of texts. */
interface Entry<Item> {
  item: Item;
  /** Its place by start and length of the input. */
  rank: number;
  /** How many messages the input has. It grows in a tool loop even if no text is added. */
  inputLength: number;
  input: Texts;
  /** The beginnings of the input in the tree of sequences, the longest last. */
  nodes: readonly number[];
  /** What a later call may repeat: an input, and the texts of the output in one of its forms. */
  results: readonly { input: Texts; output: readonly number[] }[];
  /** The tool calls that the output requests, and those whose results end the input, by id or name. */
  requested: readonly string[];
  answered: readonly string[];
}

/** The texts of messages. */
interface Texts {
  numbers: readonly number[];
  /** How many of them are history: all up to the last message of the agent. */
  historyLength: number;
}

/** How many texts to compare from the end if a history does not begin like another one. */
const ENDING_TEXTS_MAX = 8;

/** Finds the items whose messages the input of another one repeats. Linear in the number of messages. */
class HistoryIndex<Item extends Orderable> {
  readonly #texts = new TextNumbers();
  /** Sequences of texts from their first one, and from their last one. */
  readonly #beginnings = new SequenceTree();
  readonly #endings = new SequenceTree();
  readonly #entries: ReadonlyMap<Item, Entry<Item>>;
  /** Entries by sequence: by their input, and by the history that can follow them. */
  readonly #byInput = new Map<number, Entry<Item>[]>();
  readonly #byResult = new Map<number, Entry<Item>[]>();
  readonly #byEnding = new Map<number, Entry<Item>[]>();
  /** Entries without input by the tool calls that they request. */
  readonly #byCall = new Map<string, Entry<Item>[]>();

  constructor(items: readonly Item[]) {
    const entries = items.map((item) => this.#read(item));
    // Entries are added by rank, so each list of entries is sorted by it.
    entries.sort(
      (a, b) => Number(a.item.startNs - b.item.startNs) || a.inputLength - b.inputLength,
    );
    for (const [rank, entry] of entries.entries()) {
      entry.rank = rank;
      this.#add(entry);
    }
    this.#entries = new Map(entries.map((entry) => [entry.item, entry]));
  }

  /** Finds the items that an item's messages show to be earlier; the latest of each kind is enough. */
  findEarlier(item: Item): Item[] {
    const entry = this.#entries.get(item);
    if (!entry) return [];
    return [
      this.#findEarlierStep(entry),
      this.#findRequest(entry),
      this.#findRepeated(entry),
    ].flatMap((found) => found?.item ?? []);
  }

  #read(item: Item): Entry<Item> {
    const [first, second] = item.steps;
    const last = item.steps.at(-1);
    const inputs = new Map(
      [first, second, last].flatMap((step) =>
        step ? [[step, this.#number(step.input)] as const] : [],
      ),
    );
    // A wrapper may contain only the new message, and its first model call the history, or the reverse.
    const lengthOf = (step: Step | undefined): number =>
      (step && inputs.get(step)?.numbers.length) ?? 0;
    const longest = lengthOf(second) > lengthOf(first) ? second : first;
    const input = (longest && inputs.get(longest)) ?? noTexts;
    const results = [
      ...this.#listOutputs(first).map((output) => ({ input, output })),
      ...(last && last !== first
        ? this.#listOutputs(last).map((output) => ({ input: inputs.get(last) ?? input, output }))
        : []),
    ];
    return {
      item,
      rank: 0,
      inputLength: longest?.input.length ?? 0,
      input,
      results,
      nodes: this.#beginnings.add(input.numbers),
      requested: nameCalls(last?.output ?? []),
      answered: nameCalls(listAnswered(longest?.input ?? [])),
    };
  }

  /** Lists what a later call may repeat of an output: all of its texts, or only the last one. */
  #listOutputs(step: Step | undefined): number[][] {
    const texts = step?.output.filter(isSpoken) ?? [];
    const numbers = texts.map(({ text }) => this.#texts.number('assistant', text));
    if (numbers.length === 0) return [];
    return numbers.length === 1 ? [numbers] : [numbers, numbers.slice(-1)];
  }

  #number(messages: readonly Message[]): Texts {
    const numbers: number[] = [];
    let historyLength = 0;
    for (const message of messages) {
      if (isSpoken(message)) numbers.push(this.#texts.number(message.role, message.text));
      if (message.role === 'assistant') historyLength = numbers.length;
    }
    return { numbers, historyLength };
  }

  #add(entry: Entry<Item>): void {
    const { input, nodes, results, requested } = entry;
    if (nodes.length === 0) for (const call of requested) append(this.#byCall, call, entry);
    append(this.#byInput, nodes.at(-1), entry);
    const followed = new Set<number | undefined>();
    const endings = new Set<number>();
    for (const { input: before, output } of results) {
      const start = before === input ? nodes : this.#beginnings.add(before.numbers);
      followed.add(this.#beginnings.add(output, start.at(-1)).at(-1));
      // If a history is cut at its beginning, equal turns leave the same history again.
      if (endsWithHistory(before, output)) followed.add(start[before.historyLength - 1]);
      const ending = [...before.numbers.slice(-ENDING_TEXTS_MAX), ...output];
      for (const node of this.#endings.add(ending.slice(-ENDING_TEXTS_MAX).reverse())) {
        endings.add(node);
      }
    }
    for (const node of followed) append(this.#byResult, node, entry);
    for (const node of endings) append(this.#byEnding, node, entry);
  }

  /** Finds the call before a step of a tool loop: the last with the same texts. */
  #findEarlierStep(entry: Entry<Item>): Entry<Item> | undefined {
    const node = entry.nodes.at(-1);
    return node === undefined ? undefined : findLatest(this.#byInput.get(node), entry, 0n);
  }

  /** Finds the call without input that requested the tools whose results a step gets. */
  #findRequest(entry: Entry<Item>): Entry<Item> | undefined {
    return entry.answered
      .map((call) => findLatest(this.#byCall.get(call), entry, 0n))
      .find((found) => found !== undefined);
  }

  #findRepeated(entry: Entry<Item>): Entry<Item> | undefined {
    const beginning = this.#findByBeginning(entry);
    // All of the history, or all but an answer that was changed.
    if (beginning && beginning.length >= entry.input.historyLength - 1) return beginning.entry;
    const ending = this.#findByEnding(entry);
    return (ending && ending.length > 1 ? ending : (beginning ?? ending))?.entry;
  }

  /** Finds the item whose messages are the longest beginning of an input. */
  #findByBeginning(entry: Entry<Item>): Match<Item> | undefined {
    const { nodes } = entry;
    for (let { length } = nodes; length > 0; length -= 1) {
      const node = nodes[length - 1] ?? -1;
      const asked = length < nodes.length ? this.#byInput.get(node) : undefined;
      const found =
        findLatest(this.#byResult.get(node), entry, CLOCK_ERROR_NS_MAX) ??
        findLatest(asked, entry, 0n);
      if (found) return { entry: found, length };
    }
    return undefined;
  }

  /** Finds the item whose messages have the longest common ending with a history. */
  #findByEnding(entry: Entry<Item>): Match<Item> | undefined {
    const { numbers, historyLength } = entry.input;
    const history = numbers.slice(0, historyLength);
    const nodes = this.#endings.find(history.slice(-ENDING_TEXTS_MAX).reverse());
    for (let { length } = nodes; length > 0; length -= 1) {
      // One equal text does not prove that the clocks are wrong.
      const errorNs = length > 1 ? CLOCK_ERROR_NS_MAX : 0n;
      const found = findLatest(this.#byEnding.get(nodes[length - 1] ?? -1), entry, errorNs);
      if (found) return { entry: found, length };
    }
    return undefined;
  }
}

/** Returns the messages with the tool calls whose results end an input. */
function listAnswered(input: readonly Message[]): readonly Message[] {
  const last = input.at(-1);
  return last && isToolResponse(last) ? input.slice(findLastUserIndex(input) + 1) : [];
}

/** Returns the ids and the names of tool calls; the latest is first, and ids are first. */
function nameCalls(messages: readonly Message[]): string[] {
  const calls = messages.flatMap((message) => message.calls).reverse();
  const ids = calls.flatMap(({ id }) => (id === undefined ? [] : `id ${id}`));
  return [...ids, ...calls.map(({ name }) => `name ${name}`)];
}

interface Match<Item> {
  entry: Entry<Item>;
  /** How many texts are the same. */
  length: number;
}

const noTexts: Texts = { numbers: [], historyLength: 0 };

/** Returns whether an input with an output ends with the history of this input. */
function endsWithHistory({ numbers, historyLength }: Texts, output: readonly number[]): boolean {
  if (historyLength === 0 || numbers[historyLength - 1] !== output.at(-1)) return false;
  const result = [...numbers, ...output].slice(-historyLength);
  return result.every((number, nth) => number === numbers[nth]);
}

/** Returns whether a message is something that the user or the agent said. */
function isSpoken(message: Message): boolean {
  return message.role !== 'system' && message.text !== '' && !isToolResponse(message);
}

/**
 * Finds the latest of several candidates that did not start after an entry, or else the first that
 * started later by at most the error of the clocks. If the entry is itself a candidate, finds the one
 * before it.
 */
function findLatest<Item extends Orderable>(
  candidates: readonly Entry<Item>[] = [],
  { item: { startNs }, rank }: Entry<Item>,
  clockErrorNs: bigint,
): Entry<Item> | undefined {
  const before = countWhile(candidates, (each) => each.rank < rank);
  if (candidates[before]?.rank === rank) return candidates[before - 1];
  const started = countWhile(candidates, ({ item }) => item.startNs <= startNs);
  if (started > 0) return candidates[started - 1];
  const [next] = candidates;
  return next && next.item.startNs - startNs <= clockErrorNs ? next : undefined;
}

/** Counts the items at the start of a sorted list that meet a condition. */
function countWhile<Item>(items: readonly Item[], isTrue: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isTrue(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function append<Key, Item>(lists: Map<Key, Item[]>, key: Key | undefined, item: Item): void {
  if (key === undefined) return;
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** V8 hashes no more than about 16,000 characters; a map of longer texts would be slow. */
const HASHED_LENGTH_MAX = 10_000;

/** Numbers distinct texts, separately for the user and the agent. */
class TextNumbers {
  readonly #ofUser = new Map<string, number>();
  readonly #ofOthers = new Map<string, number>();

  number(role: Message['role'], text: string): number {
    const numbers = role === 'user' ? this.#ofUser : this.#ofOthers;
    const key =
      text.length > HASHED_LENGTH_MAX
        ? `${text.length} ${text.slice(0, HASHED_LENGTH_MAX / 2)}${text.slice(-HASHED_LENGTH_MAX / 4)}`
        : text;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#ofUser.size + this.#ofOthers.size;
    numbers.set(key, number);
    return number;
  }
}

/** More texts than any conversation has. */
const TEXTS_MAX = 2 ** 26;

/** Sequences of numbers as a tree: each sequence that begins one of them is a node. */
class SequenceTree {
  readonly #nodes = new Map<number, number>();

  /** Adds a sequence below a node, and returns the nodes of its beginnings, the longest last. */
  add(sequence: readonly number[], start = 0): number[] {
    let node = start;
    return sequence.map((number) => {
      const key = node * TEXTS_MAX + number;
      node = this.#nodes.get(key) ?? this.#nodes.size + 1;
      this.#nodes.set(key, node);
      return node;
    });
  }

  /** Returns the nodes of the beginnings that have been added, the longest last. */
  find(sequence: readonly number[]): number[] {
    const nodes: number[] = [];
    for (const number of sequence) {
      const node = this.#nodes.get((nodes.at(-1) ?? 0) * TEXTS_MAX + number);
      if (node === undefined) break;
      nodes.push(node);
    }
    return nodes;
  }
}
