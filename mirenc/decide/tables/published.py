"""`PublishedTask`: a task whose costs others measured and published as a data set."""

from pathlib import Path

from mirenc.decide.datasets.dataset_registry import dataset_folder
from mirenc.decide.datasets.fetch import content_hash
from mirenc.decide.load_samples import join_same_code
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData


class PublishedTask(Task):
    """A task that reads a data set of ``mirenc datasets``, named by ``dataset``."""

    labels = "published"

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read the samples; those whose IR is the same become one group.

        ``data_dir`` is where the data sets are; ``MIRENC_DATA`` or the download folder if left out. Raises
        DatasetError: the data set is not there; TaskError: missing columns, a kernel without IR, a bad cost.
        """
        variant, folder = self.check_variant(variant), dataset_folder(self.dataset, data_dir)
        samples = list(self.samples(folder, variant))
        if all(sample.ir is not None for sample in samples):
            samples = join_same_code(samples)
        return TaskData(samples, self.space, content_hash(self.dataset, data_dir))
