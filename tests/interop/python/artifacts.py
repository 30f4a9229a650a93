"""Answers calls of google-adk's FileArtifactService over a folder, the first argument.

Reads lines `[method, arguments]`, in Python's names. Prints a line for each: what the method returns, or `{"error": NAME}`.
"""

import asyncio
import json
import logging
import sys

from google.adk.artifacts import FileArtifactService
from google.genai import types

logging.disable()


def printable(value):
  if isinstance(value, list):
    return [printable(each) for each in value]
  if hasattr(value, 'model_dump'):
    return value.model_dump(mode='json', by_alias=True, exclude_none=True)
  return value


async def main(folder):
  service = FileArtifactService(folder)
  for line in sys.stdin:
    method, arguments = json.loads(line)
    if 'artifact' in arguments:
      arguments['artifact'] = types.Part.model_validate(arguments['artifact'])
    try:
      answer = printable(await getattr(service, method)(**arguments))
    except Exception as error:  # its name is the answer
      answer = {'error': type(error).__name__}
    print(json.dumps(answer), flush=True)


asyncio.run(main(sys.argv[1]))
