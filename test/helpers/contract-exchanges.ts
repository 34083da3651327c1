import type { Test } from 'tap';
import {
  createDocumentValidator,
  escapeKey,
  listOperations,
  type OpenApiFile,
} from './contract-documents.ts';

/** A response of a server as a test received it. */
export interface ReceivedResponse {
  status: number;
  headers: { get: (name: string) => string | null };
  text: string;
  json: unknown;
}

/** Compares responses with a document, and records which of its statuses were seen. */
export interface ExchangeChecker {
  /** Asserts that an operation may respond like this. */
  check: (operationId: string, response: ReceivedResponse) => void;
  /** Asserts that a request body is one that an operation describes. */
  checkBody: (operationId: string, body: unknown) => void;
  /** Asserts that every status of every operation was seen, except these. */
  assertComplete: (exceptions: Readonly<Record<string, string>>) => void;
}

/** Creates a checker for the operations of a document. */
export function createExchangeChecker(t: Test, document: OpenApiFile): ExchangeChecker {
  const findProblems = createDocumentValidator(document);
  const operations = new Map(
    listOperations(document).map((listed) => [listed.operation.operationId, listed]),
  );
  const find = (operationId: string) => {
    const listed = operations.get(operationId);
    if (!listed) throw new Error(`There is no operation ${operationId}.`);
    return listed;
  };
  const seen = new Set<string>();
  return {
    check(operationId, { status, headers, text, json }) {
      const { operation, pointer } = find(operationId);
      const title = `${operationId} ${status}`;
      seen.add(title);
      const response = operation.responses[String(status)];
      t.ok(response, `${title} is in the document: ${text.slice(0, 200)}`);
      if (!response) return;
      const at = `${pointer}/responses/${status}`;
      for (const [name, { required, schema }] of Object.entries(response.headers ?? {})) {
        const value = headers.get(name);
        if (required) t.ok(value, `${title} has ${name}`);
        if (value === null) continue;
        const isNumber = (schema as { type?: string }).type === 'integer';
        const problems = findProblems(
          `${at}/headers/${name}/schema`,
          isNumber ? Number(value) : value,
        );
        t.same(problems, [], `${title}: ${name}`);
      }
      const type = headers.get('content-type')?.replace(/;.*$/, '') ?? '';
      t.ok(type in response.content, `${title}: the document has ${type}`);
      const isJson = type === 'application/json';
      const body = isJson ? json : text;
      t.same(findProblems(`${at}/content/${escapeKey(type)}/schema`, body), [], title);
    },
    checkBody(operationId, body) {
      const schema = `${find(operationId).pointer}/requestBody/content/application~1json/schema`;
      t.same(findProblems(schema, body), [], `the request of ${operationId}`);
    },
    assertComplete(exceptions) {
      const listed = [...operations.values()].flatMap(({ operation }) =>
        Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
      );
      const unseen = listed.filter((title) => !seen.has(title));
      t.same(unseen.sort(), Object.keys(exceptions).sort(), 'every status was provoked');
    },
  };
}
