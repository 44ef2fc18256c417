// A method whose question has a check of the answer.
export const SPEND = `format: method/2
name: spend
inputs: { most: integer }
steps:
  - name: amount
    ask: How much?
    out: { eur: integer }
    ensure:
      - It is within the budget: out.eur <= inputs.most
result: { eur: =steps.amount.eur }
`;
