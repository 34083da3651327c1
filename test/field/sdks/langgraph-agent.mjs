/** A prebuilt agent of LangGraph with memory. */
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { INSTRUCTIONS, converse, openAi, orderTool } from './setup.mjs';

/** Runs the dialog, with one invocation of the graph per question. */
export async function runGraph() {
  const { name, description, parameters: schema, execute } = orderTool;
  const agent = createReactAgent({
    llm: new ChatOpenAI({ model: 'model-1', apiKey: openAi.apiKey, configuration: openAi }),
    tools: [tool(execute, { name, description, schema })],
    prompt: INSTRUCTIONS,
    checkpointer: new MemorySaver(),
  });
  await converse(async (question) => {
    const messages = [{ role: 'user', content: question }];
    await agent.invoke({ messages }, { configurable: { thread_id: 'thread-1' } });
  });
}
