// The built-in tools, in the order in which clients show them.

import { ServiceError } from '@methods/errors/service-error';
import { Type } from 'typebox';
import { languageTopic, languageTopics } from '../reference/language-topics.ts';
import { type Tool, tool } from '../tool.ts';
import { AUTHOR_TOOLS } from './author-tools.ts';
import { EARLIER_NAMES, METHOD_TOOLS } from './method-tools.ts';
import { QUESTION_TOOLS } from './question-tools.ts';
import { RUN_TOOLS } from './run-tools.ts';

// The tool with which an agent learns the language of methods, a topic at a time.
const TOPICS = languageTopics();

const getMethodLanguage = tool({
  name: 'get_method_language',
  title: 'Read about the language of methods',
  description:
    'The reference of the language that a method’s source is written in, by topic. Read overview, steps, types and ' +
    'expressions before you write a source, and the topics of the steps you use; an example shows a whole method. Check ' +
    `what you wrote with validate_method, and ask for a diagnostic’s code here. Topics: ${TOPICS.map(({ name }) => name).join(', ')}.`,
  access: 'viewer',
  input: Type.Object(
    {
      topic: Type.Optional(
        Type.String({
          maxLength: 80,
          description: 'A topic, example/<name>, or the code of a diagnostic such as M403; without it: overview.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    topic: Type.String(),
    text: Type.String({ description: 'Markdown.' }),
    topics: Type.Array(Type.Object({ name: Type.String(), summary: Type.String() })),
  }),
  hints: { readOnly: true },
  call: async ({ topic = 'overview' }) => {
    const text = languageTopic(topic);
    if (text === null) {
      const message = `There is no such topic. The topics are ${TOPICS.map(({ name }) => name).join(', ')}.`;
      throw new ServiceError('not_found', message, { findings: [{ path: '/topic', code: 'topic', message }] });
    }
    const more = TOPICS.map(({ name, summary }) => `- ${name}: ${summary}`).join('\n');
    return {
      summary: `The reference of the language of methods: ${TOPICS.some(({ name }) => name === topic) ? topic : 'one topic'}.`,
      data: { topic, text, topics: TOPICS },
      text: `${text}\nTopics:\n${more}\n`,
    };
  },
});

const LANGUAGE_TOOLS: readonly Tool[] = [getMethodLanguage];

export const ALL_TOOLS: readonly Tool[] = [
  ...METHOD_TOOLS,
  ...AUTHOR_TOOLS,
  ...LANGUAGE_TOOLS,
  ...RUN_TOOLS,
  ...QUESTION_TOOLS,
  ...EARLIER_NAMES,
];

const BY_NAME = new Map(ALL_TOOLS.map((tool) => [tool.name, tool]));

export const TOOL_NAMES: ReadonlySet<string> = new Set(BY_NAME.keys());

export function toolNamed(name: string): Tool | undefined {
  return BY_NAME.get(name);
}
