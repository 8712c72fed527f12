"""Loaders: the real files agree with independent copies, and every wrong file raises its error."""

from __future__ import annotations

import gzip
import json
import struct
from fnmatch import fnmatch

import numpy as np
import pytest
import scipy.io
from each import each
from numpy.testing import assert_allclose, assert_array_equal

import dreval
from dreval.errors import InputError, UnknownName
from dreval.registry import DATASETS


def load(path, name=None, **options):
    """Return the data set of a file, by the loader whose files have this name; by any loader for other names."""
    like = [
        card.name for card in DATASETS.cards() for pattern in card.files if fnmatch(str(path).lower(), f"*{pattern}")
    ]
    return dreval.load_dataset(name or [*like, "wdbc_file"][0], path, **options)


def _bundled(shared_data, name):
    return np.load(shared_data / f"{name}.npz", allow_pickle=False)


def test_sonar_is_read(shared_data):
    """The numbers and classes of an independent copy."""
    ours, reference = load(shared_data / "raw" / "sonar.all-data"), _bundled(shared_data, "sonar")
    assert ours.card.name == "sonar_file"
    assert_array_equal(ours.data, reference["X"])
    assert_array_equal(ours.labels == "mine", reference["y"] == 1)
    assert ours.recipe == {"path": str(shared_data / "raw" / "sonar.all-data")}


def test_wdbc_is_read(shared_data):
    """The numbers, names and classes of the bundled copy, which is scikit-learn's."""
    ours, bundled = load(shared_data / "raw" / "wdbc.data"), dreval.load_dataset("wdbc")
    assert_array_equal(ours.data, bundled.data)
    assert_array_equal(ours.labels, bundled.labels)
    assert ours.feature_names == bundled.feature_names
    assert_array_equal(ours.data, _bundled(shared_data, "wdbc")["X"])


def test_coil_2000_is_read(shared_data):
    """Training and evaluation files; targets in the last column, in a separate file, or missing."""
    raw, reference = shared_data / "raw", _bundled(shared_data, "coil2000")
    train = load(raw / "ticdata2000.txt")
    assert_array_equal(train.data, reference["X"])
    assert_array_equal(train.labels, reference["y"])
    assert train.labels.dtype == np.int64
    test = load(raw / "ticeval2000.txt", labels=raw / "tictgts2000.txt")
    assert_array_equal(test.data, reference["X_eval"])
    assert_array_equal(test.labels, reference["y_eval"])
    assert load(raw / "ticeval2000.txt").labels is None


def test_frey_faces_are_read(shared_data):
    """One image per row, all pixels."""
    faces = load(shared_data / "raw" / "frey_rawface.mat")
    assert_array_equal(faces.data, _bundled(shared_data, "frey")["X"])
    assert faces.labels is None
    assert faces.feature_names[21] == "pixel_1_1"


def test_guo_is_read(shared_data):
    """All cells, stages and genes."""
    cells, reference = load(shared_data / "raw" / "guo_qpcr.csv"), _bundled(shared_data, "guo")
    assert_array_equal(cells.data, reference["X"])
    assert_array_equal(cells.labels, reference["class_names"][reference["y"]])
    assert cells.feature_names == tuple(reference["feature_names"].tolist())


def test_mammoth_is_read(shared_data):
    """All points with the axes put back; the other copy is rounded to three decimals."""
    bones, reference = load(shared_data / "raw" / "mammoth_3d.json"), _bundled(shared_data, "mammoth_10k")
    assert_allclose(bones.data, reference["X"], rtol=0, atol=1e-9)
    assert_array_equal(bones.data.round(3), reference["X"])


def test_usps_is_read(shared_data):
    """The twos of the test part, image by image; 2007 rows; the class counts that zip.info.txt states."""
    digits, reference = load(shared_data / "raw" / "zip.test.gz"), _bundled(shared_data, "usps_twos")
    twos = reference["X"][~reference["is_train"]] * reference["scale"]
    assert_allclose(digits.data[digits.labels == 2], twos, atol=1e-12)
    assert np.bincount(digits.labels).tolist() == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]


@pytest.mark.parametrize("packed", [False, True])
def test_idx_is_read(shared_data, tmp_path, packed):
    """Real images written in the format of the publisher, plain and packed, with their labels."""
    reference = _bundled(shared_data, "fmnist_3000")
    images = struct.pack(">4B3I", 0, 0, 8, 3, 3000, 28, 28) + reference["X"].tobytes()
    labels = struct.pack(">4BI", 0, 0, 8, 1, 3000) + reference["y"].astype(np.uint8).tobytes()
    files = tmp_path / "t10k-images-idx3-ubyte", tmp_path / "t10k-labels-idx1-ubyte"
    for file, content in zip(files, (images, labels), strict=True):
        file.write_bytes(gzip.compress(content, 1) if packed else content)
    ours = load(files[0], labels=files[1])
    assert_array_equal(ours.data, reference["X"])
    assert_array_equal(ours.labels, reference["y"])
    assert len(ours.feature_names) == 784
    assert load(files[0]).labels is None


REAL = ["sonar.all-data", "wdbc.data", "ticdata2000.txt", "ticeval2000.txt", "frey_rawface.mat", "guo_qpcr.csv"]
REAL += ["mammoth_3d.json", "zip.test.gz"]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("name", REAL)
def test_a_truncated_file_raises_an_error(shared_data, tmp_path, name, share):
    """At any length the error has the name of the file and the hint to download it again."""
    content = (shared_data / "raw" / name).read_bytes()
    file = tmp_path / name
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=rf"`path` must .*'{name}'.*(again|cut short)"):
        load(file)


@pytest.mark.parametrize("name", REAL)
def test_a_file_without_its_last_rows_raises_an_error(shared_data, tmp_path, name):
    """The counts detect missing lines."""
    content = (shared_data / "raw" / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    if name.endswith((".mat", ".json")):
        return
    file = tmp_path / name.removesuffix(".gz")
    file.write_bytes(b"\n".join(content.splitlines()[:-2]) + b"\n")
    with pytest.raises(InputError, match=r"cut short"):
        load(file)


@each("name", [*REAL, "x-images-idx3-ubyte"])
def test_a_web_page_raises_an_error(tmp_path, name):
    """A page saved under the name of the file, packed or not."""
    page = b"\n  <!DOCTYPE html><html><body>404: Not Found</body></html>"
    for content in (page, gzip.compress(page)):
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(InputError, match=rf"must be a data file: got '{name}', which is a web page \(HTML\)"):
            load(file)


@pytest.mark.parametrize("name", [*REAL, "x-images-idx3-ubyte"])
def test_every_real_file_raises_an_error_in_every_other_loader(shared_data, name):
    """A file passed to the loader of another raises an error."""
    if name not in REAL:
        return
    ours = load(shared_data / "raw" / name).card.name
    for kind in dreval.list_datasets():
        if kind.endswith("_file") and kind != ours:
            with pytest.raises(InputError, match=rf"`path` must .*'{name}'"):
                load(shared_data / "raw" / name, kind)


SONAR = [",".join(["0.5"] * 60 + [c]) for c in 97 * "R" + 111 * "M"]
WDBC = [",".join([str(i), c] + ["1.5"] * 30) for i, c in enumerate(357 * "B" + 212 * "M")]
USPS = [" ".join(["3.0000"] + ["-1"] * 256) + " "] * 2007
COIL = ["\t".join(["1"] * 85)] * 4000
GUO = ["," + ",".join(["Actb"] + ["g"] * 47), *(["16" + ",0.5" * 48] * 437)]

WRONG = [
    ("sonar.all-data", [line.replace("R", "1").replace("M", "-1") for line in SONAR], "R or M at the end.*'1'"),
    ("sonar.all-data", [",".join(f"V{j}" for j in range(61)), *SONAR], "R or M at the end of every line.*'V60'"),
    ("sonar.all-data", ["208", "60", "2", *SONAR], "61 fields.*1 in line 1.*line of counts"),
    ("sonar.all-data", [",".join(["a"] * 60 + ["R"]), *SONAR[1:]], "must hold numbers.*'a' in line 1"),
    ("sonar.all-data", [",".join(["nan"] + ["0"] * 59 + ["R"]), *SONAR[1:]], "must hold numbers.*'nan' in line 1"),
    ("sonar.all-data", SONAR[1:], r"97 R, 111 M\).*96 R, 111 M"),
    ("wdbc.data", ["1000025,5,1,1,1,2,1,3,1,1,2"] * 699, "32 fields.*11 in line 1.*original Wisconsin"),
    ("wdbc.data", ["1,N,31" + ",1.0" * 32] * 198, "32 fields.*35 in line 1.*prognostic"),
    ("wdbc.data", ["1.0," * 30 + "0"] * 569, "32 fields.*31 in line 1.*codes malignant as 0"),
    ("wdbc.csv", ["id,diagnosis," + ",".join(["f"] * 30), *WDBC], "M or B in the second place.*'diagnosis'"),
    ("wdbc.data", [*WDBC, WDBC[0]], r"357 B, 212 M\).*358 B, 212 M"),
    ("wdbc.data", [*WDBC[:9], "1,M", *WDBC[10:]], "2 in line 10"),
    ("ticdata2000.txt", COIL[:10], "10 rows"),
    ("ticdata2000.txt", ["\t".join(["1"] * 84)] * 10, "86 fields in every line, separated by tabs.*84 in line 1"),
    ("ticdata2000.txt", ["\t".join(["1"] * 86)] * 5822, r"5474 0, 348 1\).*0 0, 5822 1"),
    ("tictgts2000.txt", ["0"] * 4000, "must hold the 85 features.*one column of targets.*`labels`"),
    ("guo_qpcr.csv", [GUO[0].replace("Actb", "Gapdh"), *GUO[1:]], "header of an empty cell and Actb.*'Gapdh'"),
    ("guo_qpcr.csv", GUO[:-9], "437 rows.*428 rows"),
    ("guo_qpcr.csv", [line + ",1" for line in GUO], "49 fields.*50 in line 1"),
    ("mammoth_3d.json", ["{}"], "must be a list of triples.*a list of dict"),
    ("mammoth_3d.json", ["[1, 2, 3]"], "must be a list of triples.*a list of int"),
    ("mammoth_3d.json", ["[[1, 2], [3, 4]]"], "3 numbers for each point.*with 2.*embeddings"),
    ("mammoth_3d.json", [json.dumps([[1, 2, 3]] * 50000)], "10000 points.*50000 points"),
    ("mammoth_3d.json", [json.dumps([[1, 2, None]] * 10000)], "must hold numbers.*'None' in line 1"),
    ("zip.train", USPS[:-1], "7291.*or 2007.*2006 rows"),
    ("zip.test", [line.replace("3.0000", "11") for line in USPS], "a digit first in every line.*11"),
    ("zip.test", [line.replace("-1", "255") for line in USPS], "gray values from -1 to 1.*255"),
    ("zip.test", [line.replace(" ", ",") for line in USPS], "257 fields in every line, separated by spaces"),
    ("zip.test", ["a\0b"], "must be a text file.*binary"),
]


@each("name, lines, reason", WRONG)
def test_wrong_text_files_raise_an_error(tmp_path, name, lines, reason):
    """Each way in which copies in circulation differ, by name and reason."""
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"`path` {reason}" if reason.startswith("must") else reason) as error:
        load(file)
    assert repr(name) in str(error.value)


def test_right_text_files_are_read_whatever_their_line_ends(tmp_path):
    """The lines above, unspoilt, with \\n and \\r\\n, with and without an end of the last line."""
    good = {"sonar.all-data": SONAR, "wdbc.data": WDBC, "zip.test": USPS, "ticeval2000.txt": COIL, "guo_qpcr.csv": GUO}
    for name, lines in good.items():
        errors = []
        for end, last in (("\n", ""), ("\r\n", "\r\n"), ("\n", "\n\n")):
            (tmp_path / name).write_text(end.join(lines) + last, newline="")
            errors.append(load(tmp_path / name).data)
        assert_array_equal(errors[0], errors[1])
        assert_array_equal(errors[0], errors[2])


HEAD = struct.pack(">4B3I", 0, 0, 8, 3, 4, 2, 2)
BYTES = [
    (HEAD + bytes(15), "must be as long as its header states.*15 bytes for 4 x 2 x 2"),
    (HEAD + bytes(17), "must be as long as its header states.*17 bytes"),
    (HEAD[:10], "must be complete"),
    (struct.pack(">4BI", 0, 0, 8, 1, 3) + bytes(3), "magic number 2051.*magic number 2049.*These are labels"),
    (struct.pack(">4B3I", 0, 0, 13, 3, 1, 1, 1) + bytes(4), "magic number 2051"),
    (struct.pack(">4B3I", 0, 0, 8, 3, 0, 28, 28), "must be as long as its header states.*0 bytes for 0 x 28 x 28"),
    (b"PK\x03\x04 rest", "begins with two zero bytes.*50 4b 03 04"),
]


@each("content, reason", BYTES)
def test_wrong_idx_files_raise_an_error(tmp_path, content, reason):
    """Header, type, number of axes and length are checked."""
    file = tmp_path / "train-images-idx3-ubyte"
    file.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        load(file)


def test_labels_of_another_part_raise_an_error(tmp_path):
    """There are as many labels as images; the error names the argument of the labels."""
    images, labels = tmp_path / "a-images-idx3-ubyte", tmp_path / "a-labels-idx1-ubyte"
    images.write_bytes(HEAD + bytes(16))
    labels.write_bytes(struct.pack(">4BI", 0, 0, 8, 1, 3) + bytes(3))
    with pytest.raises(InputError, match=r"`labels` must have one label for each of the 4 images.*3 labels"):
        load(images, labels=labels)
    with pytest.raises(InputError, match=r"`labels` must be an IDX file of labels.*These are the images"):
        load(images, labels=images)
    sonar = tmp_path / "sonar.all-data"
    sonar.write_text("\n".join(SONAR))
    with pytest.raises(InputError, match=r"`labels` must be left out for 'sonar.all-data'"):
        load(sonar, labels=labels)


def test_wrong_matlab_files_raise_an_error(tmp_path):
    """Another version, another matrix, another shape, a broken one."""
    file = tmp_path / "frey_rawface.mat"
    for name, shape, reason in (("X", (2, 2), "matrix `ff`.*X"), ("ff", (1965, 560), "one of 1965 x 560")):
        scipy.io.savemat(file, {name: np.zeros(shape)})
        with pytest.raises(InputError, match=reason):
            load(file)
    file.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(200))
    with pytest.raises(InputError, match="must be a MATLAB 5 file"):
        load(file)


def test_paths_that_are_not_files_raise_an_error(tmp_path):
    """Missing files, folders, empty files, missing paths and unknown names raise errors."""
    (tmp_path / "wdbc.data").write_text("\n".join(WDBC))
    with pytest.raises(UnknownName, match=r"must be an existing file.*Did you mean 'wdbc\.data'"):
        load(tmp_path / "wbdc.data")
    with pytest.raises(UnknownName, match="Download it first"):
        load(tmp_path / "none" / "zip.train")
    with pytest.raises(InputError, match="must be a file: got the folder"):
        load(tmp_path)
    with pytest.raises(InputError, match="`path` must be a path"):
        load(3)
    (tmp_path / "sonar.csv").write_text(" \n")
    with pytest.raises(InputError, match="must not be empty"):
        load(tmp_path / "sonar.csv")
    (tmp_path / "data.txt").write_text("\n".join(WDBC))
    for name in ("wdbc_file", "wdbc"):  # the second is also a bundled set
        assert load(tmp_path / "data.txt", name).card.name == "wdbc_file"
    with pytest.raises(UnknownName, match=r"`name`.*Did you mean 'sonar_file'"):
        load(tmp_path / "data.txt", "sonnar_file")
    with pytest.raises(InputError, match=r"`path` must be left out: got 'digits' with a file.*sonar_file"):
        load(tmp_path / "data.txt", "digits")


def test_a_file_can_be_evaluated(tmp_path):
    """A data set that was read is data like any other, with its labels."""
    (tmp_path / "wdbc.data").write_text("\n".join(WDBC))
    record = dreval.Evaluation(load(tmp_path / "wdbc.data").to_frame().assign(z=range(569)), labels="label")
    assert record.data.labels.classes.tolist() == ["benign", "malignant"]
